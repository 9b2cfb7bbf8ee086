public import IoTCore
public import IoTLink
public import Logging
public import ServiceLifecycle

/// The link service: accounts, tokens, devices, bindings, presence, stored thing models, and the forwarding of
/// requests and calls between users and devices, behind a broker of its own.
///
/// Everything but `run()` may be called before it, too. Without any configuration but its directory it makes a
/// signing key and an owner account on first start.
public final class LinkHub: Service, Sendable {
    /// Where principals connect.
    public let endpoint: LinkEndpoint

    /// Where principals of this very process connect: the broker's socket, whatever `endpoint` is.
    public let localEndpoint: LinkEndpoint

    /// Where principals on other machines connect: the first of `HubTLS.names`, or the address it listens on; `nil`
    /// without a TLS listener.
    public var tlsEndpoint: LinkEndpoint? { supervisor.tlsEndpoint }

    /// SHA-256 of the DER of the certificate that those trust: 32 bytes.
    public var certificateAuthorityFingerprint: [UInt8]? { supervisor.certificate?.authority.fingerprint }

    /// The certificate and the key (PEM files) of the TLS listener, for other servers of this daemon; they are replaced
    /// while it runs.
    public var tlsCertificateFiles: (certificate: String, key: String)? {
        supervisor.certificate.map { ($0.certificateFile, $0.keyFile) }
    }

    private let configuration: HubConfiguration
    private let lock: DirectoryLock
    private let authority: TokenAuthority
    private let owner: OwnerAccount
    private let store: any HubStore
    private let supervisor: BrokerSupervisor
    private let credentials: CredentialSync
    private let connection: HubConnection
    private let service: HubService
    private let brokerPassword: String
    private let logger: Logger
    private let ready = ReadySignal()

    /// Opens the data directory.
    ///
    /// - Throws: `brokerMissing` without mosquitto, `alreadyRunning`, `fileFailed`, `storeFailed`.
    public init(_ configuration: HubConfiguration, logger: Logger) throws(IoTError) {
        self.configuration = configuration
        self.logger = logger
        let directory = configuration.dataDirectory
        guard directory.hasPrefix("/") else {
            throw IoTError(.invalidConfiguration, "the data directory must be an absolute path, not '\(directory)'")
        }
        try SecretFile.makeDirectory(directory)
        // Whoever runs the hub, it has this lock.
        lock = try DirectoryLock(directory, file: "hub.lock", holder: "hub")
        supervisor = try BrokerSupervisor(
            dataDirectory: directory, endpoint: configuration.endpoint, program: configuration.mosquittoPath,
            tls: configuration.tls, limits: configuration.brokerLimits, logger: logger)
        endpoint = Self.linkEndpoint(supervisor.endpoint)
        localEndpoint = Self.linkEndpoint(supervisor.localEndpoint)
        authority = TokenAuthority(key: try HubKey(dataDirectory: directory))
        owner = try OwnerAccount(dataDirectory: directory)
        let store = try SQLiteHubStore(path: directory + "/hub.sqlite") { row in
            logger.error(
                "a row of the hub's database cannot be read and was set aside",
                metadata: [
                    "store.table": "\(row.table.rawValue)", "store.key": "\(row.keyText)",
                    "store.reason": "\(JSONValue.string(row.reason).jsonText)",
                    "remedy": "the table set_aside of hub.sqlite keeps it",
                ])
        }
        self.store = store
        credentials = CredentialSync()
        brokerPassword = Hex.random(byteCount: 32)
        // The service sends through the connection, and the connection feeds the service.
        let uplink = LateBound<HubService>()
        let connection = HubConnection(
            endpoint: Self.linkEndpoint(supervisor.hubEndpoint), password: brokerPassword, credentials: credentials,
            logger: logger
        ) { message in uplink.value?.receive(message) }
        self.connection = connection
        let identity = HubIdentity(
            address: Self.enrolmentAddress(
                supervisor.tlsEndpoint ?? endpoint, authority: supervisor.certificate?.authority.fingerprint),
            owner: owner.accessID)
        service = HubService(
            store: store, state: try store.load(), authority: authority, identity: identity,
            limits: configuration.limits,
            onStoreFailure: { error in
                logger.critical(
                    "the hub cannot read its database and refuses all requests until it can",
                    metadata: ["error": "\(error)", "remedy": "\(error.remedy)"])
            }
        ) { outputs in connection.send(outputs) }
        uplink.bind(service)
    }

    /// Serves until it is cancelled or told to shut down gracefully. Call it once.
    ///
    /// - Throws: `brokerFailed` when the broker does not start.
    public func run() async throws {
        let (listening, listeningFeed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        do {
            try await cancelWhenGracefulShutdown { [self] in
                try await withThrowingTaskGroup { group in
                    group.addTask { [self] in
                        try await supervisor.run(
                            securityFile: { [self] () async throws(IoTError) in try await securityFile() },
                            onListening: { listeningFeed.yield() })
                    }
                    group.addTask { [self] in
                        await connection.run(
                            listening: listening,
                            onReady: { [self] in
                                supervisor.openToPrincipals()
                                ready.resolve(.success(()))
                            },
                            onLost: { [self] in service.noteOutage() })
                    }
                    group.addTask { [self] in
                        await reportDamage()
                        while !Task.isCancelled {
                            try? await Task.sleep(for: configuration.tls?.checkInterval ?? .seconds(60))
                            supervisor.boundLog()
                            supervisor.refreshCertificate()
                        }
                    }
                    group.addTask { [self] in
                        while !Task.isCancelled {
                            try? await Task.sleep(for: .milliseconds(500))
                            supervisor.boundMemory()
                        }
                    }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        } catch {
            await finish(error as? IoTError)
            if !(error is CancellationError) { throw error }
            return
        }
        await finish(nil)
    }

    /// Damage that the start did not meet does not end the hub: what it works from was read.
    private func reportDamage() async {
        let findings = await store.findDamage()
        guard !findings.isEmpty else { return }
        logger.critical(
            "the hub's database is damaged",
            metadata: [
                "error": "\(IoTError(.storeFailed, findings.joined(separator: "; ")))",
                "remedy": "\(store.damageRemedy)",
            ])
    }

    /// Tells that it will be stopped soon: from now on nothing waits until another program unlocks the database.
    public func expectStop() {
        store.waitNoLonger()
    }

    private func finish(_ error: IoTError?) async {
        ready.resolve(.failure(error ?? IoTError(.stopping)))
        credentials.stop()
        expectStop()
        await service.stop()
        store.close()
        lock.release()
    }

    /// Returns when principals can register: the broker listens, and the hub hears it.
    ///
    /// - Throws: what kept `run()` from it.
    public func waitUntilReady() async throws(IoTError) {
        try await ready.wait()
    }

    public var statistics: HubStatistics { service.statistics }

    /// Why the hub refuses all requests: it cannot read its database again after a failure. `nil` while it does not.
    public var storeFailure: IoTError? { service.storeFailure }

    /// How often a broker was started.
    public var brokerStarts: Int { supervisor.starts }

    /// Why no broker runs; `nil` while one does.
    public var brokerFailure: IoTError? { supervisor.failure }

    /// Where the hub's own client connects.
    var hubEndpoint: BrokerEndpoint { supervisor.hubEndpoint }

    /// The broker's process id while one runs.
    public var brokerProcessIdentifier: Int32? { supervisor.processIdentifier }

    /// Made before each start of a broker, on the hub's own thread: every credential is in this file, or comes after.
    private func securityFile() async throws(IoTError) -> JSONValue {
        let hub = BrokerCredential.hub(password: brokerPassword)
        let credentials = credentials
        return try await service.perform { core, time throws(IoTError) in
            core.expireTokens(at: time)
            core.expireAccounts(at: time)
            credentials.reset()
            return DynamicSecurity.file(hub: hub, credentials: core.state.credentials)
        }
    }

    // MARK: Accounts

    /// The owner's access id; makes the account if there is none. It is an administrator.
    public func ensureOwner() async throws(IoTError) -> AccessID {
        let id = owner.accessID
        try await service.perform { core, time throws(IoTError) in try core.ensureAdministrator(id, at: time) }
        return id
    }

    /// The owner's token, which also lies in `ownerTokenFile`; renewed past two thirds of its life.
    public func ownerToken() async throws(IoTError) -> String {
        let id = try await ensureOwner()
        let owner = owner
        let authority = authority
        let usable = try await service.perform { core, time throws(IoTError) in
            try owner.usableToken(authority, knownTokens: { core.state.tokens[$0] != nil }, at: time.seconds)
        }
        if let usable { return usable }
        let token = try await issueToken(.user(id), lifetime: .seconds(localLifetime))
        try owner.save(token)
        return token
    }

    public var ownerTokenFile: String { owner.tokenFile }

    /// - Parameter kind: `member` or `administrator`.
    /// - Throws: `nameTaken`; `invalidRequest` for a temporary account, which `createTemporaryUser` makes.
    public func createUser(_ id: AccessID, kind: AccountKind = .member) async throws(IoTError) {
        guard kind != .temporary else {
            throw IoTError(.invalidRequest, "a temporary account is for a device and a time")
        }
        try await service.perform { core, time throws(IoTError) in try core.addUser(id, kind: kind, at: time) }
    }

    /// Removes an account with its tokens, bindings, calls and session.
    ///
    /// - Throws: `targetNotFound`; `forbidden` for the daemon's own account.
    public func removeUser(_ id: AccessID) async throws(IoTError) {
        try await service.perform { core, time throws(IoTError) in
            guard core.state.users[id] != nil else { throw core.noUser(id) }
            try core.checkIsNotOwn(id)
            core.removeUser(id, bindingsEnd: .removed, at: time)
        }
    }

    // MARK: Devices

    /// Makes a device, which belongs to nobody yet.
    ///
    /// - Throws: `invalidRequest` for a bad name, `nameTaken`.
    public func createDevice(name: String) async throws(IoTError) -> (device: DeviceID, token: String) {
        let lifetime = localLifetime
        let (device, token, tokenID) = try await service.perform { core, time throws(IoTError) in
            let device = try core.addDevice(named: name)
            let issued = try core.issueToken(.device(device), lifetime: lifetime, at: time)
            return (device, issued.token, issued.id)
        }
        await credentials.waitUntilConfirmed(tokenID)
        return (device, token)
    }

    /// The device of this daemon's camera `name` with a new token. It is made, and bound to the owner, when there is
    /// none, and stays the camera's under whatever name it gets later. The tokens that earlier calls gave are revoked.
    public func ensureDevice(name: String) async throws(IoTError) -> (device: DeviceID, token: String) {
        let owner = try await ensureOwner()
        let lifetime = localLifetime
        let (device, newName, token, tokenID) = try await service.perform { core, time throws(IoTError) in
            let isNew = core.state.cameras[name] == nil
            let device = try core.ensureDevice(camera: name, owner: owner, at: time)
            core.removeTokens(of: .device(device)) { $0.isLocal }
            let issued = try core.issueToken(.device(device), lifetime: lifetime, isLocal: true, at: time)
            return (device, isNew ? core.state.devices[device]?.name : nil, issued.token, issued.id)
        }
        if let newName, newName != name {
            logger.warning(
                "another device has the camera's name, so the camera's new device got a name of its own",
                metadata: ["camera": "\(name)", "device.name": "\(newName)", "device.id": "\(device)"])
        }
        await credentials.waitUntilConfirmed(tokenID)
        return (device, token)
    }

    /// The devices by name.
    public func deviceNames() async throws(IoTError) -> [String: DeviceID] {
        try await service.perform { core, _ throws(IoTError) in core.state.names }
    }

    public func renameDevice(_ device: DeviceID, to name: String) async throws(IoTError) {
        try await service.perform { core, time throws(IoTError) in
            try core.renameDevice(device, to: name, at: time)
        }
    }

    /// Removes a device with its model, bindings and tokens; its session ends.
    public func removeDevice(_ device: DeviceID) async throws(IoTError) {
        try await service.perform { core, time throws(IoTError) in try core.removeDevice(device, at: time) }
    }

    /// Gives an account a role and actions at a device, or changes them. It counts from the next request, and ends
    /// the calls that take more.
    ///
    /// - Parameters:
    ///   - actions: A guest's; `view` alone when `nil`. An owner has all.
    ///   - force: Takes the device from another owner.
    /// - Throws: `targetNotFound`; `boundToOther` for a device that another account owns; `customerMismatch` for
    ///   another device's temporary account.
    public func bind(
        _ user: AccessID, to device: DeviceID, role: BindingRole, actions: BindingActions? = nil, force: Bool = false
    ) async throws(IoTError) {
        try await service.perform { core, time throws(IoTError) in
            try core.bind(user, device, role, actions, force: force, at: time)
        }
    }

    /// Ends the user's calls and pushes, too.
    ///
    /// - Throws: `relationInvalid` when they are not bound.
    public func unbind(_ user: AccessID, from device: DeviceID) async throws(IoTError) {
        try await service.perform { core, time throws(IoTError) in try core.unbind(user, device, at: time) }
    }

    // MARK: Tokens

    /// Makes a token, which the broker knows when this returns.
    ///
    /// - Parameter lifetime: 1 s to 10 years.
    /// - Throws: `targetNotFound` for an unknown principal.
    public func issueToken(_ principal: Principal, lifetime: Duration) async throws(IoTError) -> String {
        let seconds = lifetime.components.seconds
        let issued = try await service.perform { core, time throws(IoTError) in
            try core.issueToken(principal, lifetime: seconds, at: time)
        }
        await credentials.waitUntilConfirmed(issued.id)
        return issued.token
    }

    /// Makes an enrolment string: whoever holds it may exchange it, once, for tokens of the account and the devices.
    ///
    /// - Parameter lifetime: 1 s to an hour.
    /// - Throws: `targetNotFound`; `invalidConfiguration` when the hub has no address that others could join at.
    public func enrol(
        user: AccessID?, devices: [DeviceID] = [], lifetime: Duration = .seconds(600)
    ) async throws(IoTError) -> String {
        let seconds = lifetime.components.seconds
        let creator = Principal.user(try await ensureOwner())
        let enrolment = try await service.perform { core, time throws(IoTError) in
            guard (1...HubCore.longestEnrolment).contains(seconds), user != nil || !devices.isEmpty else {
                throw IoTError(.invalidRequest, "an enrolment is for an account or devices, and lives 1 s to an hour")
            }
            for principal in (user.map { [.user($0)] } ?? []) + devices.map(Principal.device) {
                guard core.isKnown(principal) else {
                    throw IoTError(.targetNotFound, "there is no \(principal)", remedy: principal.kind.listing)
                }
            }
            return try core.enrol(user: user, devices: devices, lifetime: seconds, by: creator, at: time)
        }
        await credentials.waitUntilConfirmed(enrolment.id)
        return enrolment.text
    }

    /// Ends a token and the sessions that use it, or an enrolment. `id` is the token's `jti`.
    ///
    /// - Throws: `notFound`.
    public func revokeToken(id: String) async throws(IoTError) {
        try await service.perform { core, time throws(IoTError) in try core.revokeToken(id, at: time) }
        await credentials.waitUntilConfirmed(id)
    }

    /// Where who joins this hub is sent. A port of the loopback interface without TLS is nothing to hand out.
    private static func enrolmentAddress(_ endpoint: LinkEndpoint, authority: [UInt8]?) -> EnrolmentString.Place? {
        switch endpoint {
        case .unixSocket(let path): .unixSocket(path: path)
        case .tls(let host, let port, _): authority.map { .tls(host: host, port: port, authority: $0) }
        case .tcp: nil
        }
    }

    private static func linkEndpoint(_ endpoint: BrokerEndpoint) -> LinkEndpoint {
        switch endpoint {
        case .unixSocket(let path): .unixSocket(path: path)
        case .loopback(let port): .tcp(host: "127.0.0.1", port: port)
        }
    }

    private var localLifetime: Int64 { configuration.localTokenDays * 86_400 }
}

extension BrokerCredential {
    /// The hub's own; its principal is never looked at, since it has a role of its own.
    static func hub(password: String) -> BrokerCredential {
        .make(tokenID: DynamicSecurity.hubUserName, principal: .device(.random()), token: password)
    }
}
