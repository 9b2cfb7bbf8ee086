public import IoTCore
public import IoTLink
public import Logging
public import ServiceLifecycle

/// The link service: accounts, tokens, devices, bindings, presence, stored thing models, and the forwarding of requests
/// and calls between users and devices. It runs its own broker.
///
/// Everything except `run()` may also be called before `run()`. A hub needs only a directory: on its first start it
/// makes a signing key and its own account.
public final class LinkHub: Service, Sendable {
    private let configuration: HubConfiguration
    private let lock: DirectoryLock
    private let authority: TokenAuthority
    private let ownAccount: OwnAccount
    private let store: any HubStore
    let broker: any HubBroker
    private let service: HubService
    private let logger: Logger
    private let ready = ReadySignal()
    /// The files of releases of firmware.
    public let releases: ReleaseStore

    /// Opens the data directory.
    ///
    /// - Throws: `brokerMissing` if mosquitto is not installed, `alreadyRunning`, `fileFailed`, `storeFailed`.
    public convenience init(_ configuration: HubConfiguration, logger: Logger) throws(IoTError) {
        let lock = try Self.lock(configuration.dataDirectory)
        let broker = try MosquittoBroker(configuration, logger: logger)
        let store = try SQLiteHubStore(path: configuration.dataDirectory + "/hub.sqlite") { row in
            logger.error(
                "a row of the hub's database cannot be read and was set aside",
                metadata: [
                    "store.table": "\(row.table.rawValue)", "store.key": "\(row.keyText)",
                    "store.reason": "\(JSONValue.string(row.reason).jsonText)",
                    "remedy": "the table set_aside of hub.sqlite keeps it",
                ])
        }
        try self.init(
            configuration, lock: lock, store: store, state: try store.load(), broker: broker, logger: logger)
    }

    /// The lock ensures that one process at most runs a hub in this directory.
    static func lock(_ directory: String) throws(IoTError) -> DirectoryLock {
        guard directory.isAbsolutePath else {
            throw IoTError(.invalidConfiguration, "the data directory must be an absolute path, not '\(directory)'")
        }
        try PrivateDirectory.make(directory)
        return try DirectoryLock(directory, file: "hub.lock", holder: "hub")
    }

    /// - Parameter state: The content of the store.
    init(
        _ configuration: HubConfiguration, lock: DirectoryLock, store: any HubStore, state: HubState,
        broker: any HubBroker, logger: Logger
    ) throws(IoTError) {
        self.configuration = configuration
        self.lock = lock
        self.store = store
        self.broker = broker
        self.logger = logger
        releases = ReleaseStore(directory: configuration.dataDirectory + "/firmware")
        authority = TokenAuthority(key: try HubKey(dataDirectory: configuration.dataDirectory))
        ownAccount = try OwnAccount(dataDirectory: configuration.dataDirectory)
        let identity = HubIdentity(
            address: Self.enrolmentAddress(
                broker.tlsEndpoint ?? broker.endpoint, authority: broker.authorityFingerprint),
            ownAccount: ownAccount.accessID)
        service = HubService(
            store: store, state: state, authority: authority, identity: identity, limits: configuration.limits,
            onStoreFailure: { error in
                logger.critical(
                    "the hub cannot read its database and refuses all requests until it can",
                    metadata: ["error": "\(error)", "remedy": "\(error.remedy)"])
            }
        ) { outputs in broker.send(outputs) }
    }

    /// Where principals connect.
    public var endpoint: LinkEndpoint { broker.endpoint }

    /// Where principals in this process connect: the broker's socket, whatever `endpoint` is.
    public var localEndpoint: LinkEndpoint { broker.localEndpoint }

    /// Where principals on other machines connect: the first of `HubTLS.names`, or the address it listens on; `nil`
    /// without a TLS listener.
    public var tlsEndpoint: LinkEndpoint? { broker.tlsEndpoint }

    /// SHA-256 of the DER of the certificate that clients on other machines trust: 32 bytes.
    public var certificateAuthorityFingerprint: [UInt8]? { broker.authorityFingerprint }

    /// The PEM files of the TLS listener's certificate and key, for other servers of this daemon. They are replaced
    /// while the hub runs.
    public var tlsCertificateFiles: (certificate: String, key: String)? { broker.certificateFiles }

    /// Serves until it is cancelled or shut down gracefully. Call it once.
    ///
    /// - Throws: `brokerFailed` when the broker does not start.
    public func run() async throws {
        let handlers = BrokerHandlers(
            credentials: { [service] taken throws(IoTError) in
                try await service.perform { core, time throws(IoTError) in
                    core.expireTokens(at: time)
                    core.expireAccounts(at: time)
                    taken()
                    return core.state.credentials
                }
            },
            onMessage: { [service] message in service.receive(message) },
            onReady: { [ready] in ready.resolve(.success(())) },
            onLost: { [service] in service.noteOutage() })
        do {
            try await cancelWhenGracefulShutdown { [self] in
                // A child task, because the search takes long in a large database. It is cancelled when the broker
                // ends.
                async let _: Void = reportDamage()
                // What an administrator of another box removed.
                async let _: Void? = try? removeUnknownReleaseFiles()
                try await broker.run(handlers)
            }
        } catch {
            await finish(error as? IoTError)
            if !(error is CancellationError) { throw error }
            return
        }
        await finish(nil)
    }

    /// Logs damage. It does not end the hub, because `load()` has already read everything that the hub works with.
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

    /// Call this before the hub is stopped: from now on no access waits for another program to unlock the database.
    public func expectStop() {
        store.waitNoLonger()
    }

    private func finish(_ error: IoTError?) async {
        ready.resolve(.failure(error ?? IoTError(.stopping)))
        expectStop()
        await service.stop()
        store.close()
        lock.release()
    }

    /// Returns when principals can register: the broker listens, and the hub receives messages.
    ///
    /// - Throws: the error that ended `run()` before that.
    public func waitUntilReady() async throws(IoTError) {
        try await ready.wait()
    }

    public var statistics: HubStatistics { service.statistics }

    /// Why the hub refuses all requests: it failed to read its database again after a failure. `nil` otherwise.
    public var storeFailure: IoTError? { service.storeFailure }

    /// How often a broker was started.
    public var brokerStarts: Int { broker.status.starts }

    /// Why no broker runs; `nil` while one does.
    public var brokerFailure: IoTError? { broker.status.failure }

    /// The broker's process id while one runs.
    public var brokerProcessIdentifier: Int32? { broker.status.processIdentifier }

    // MARK: Accounts

    /// The access id of the daemon's own account, an administrator. Creates the account if it does not exist.
    public func ensureOwnAccount() async throws(IoTError) -> AccessID {
        let id = ownAccount.accessID
        try await service.perform { core, time throws(IoTError) in try core.ensureAdministrator(id, at: time) }
        return id
    }

    /// The token of the daemon's own account. It is renewed when two thirds of its lifetime have passed.
    public func ownToken() async throws(IoTError) -> String {
        let id = try await ensureOwnAccount()
        let ownAccount = ownAccount
        let authority = authority
        let usable = try await service.perform { core, time throws(IoTError) in
            try ownAccount.usableToken(authority, knownTokens: { core.state.tokens[$0] != nil }, at: time.seconds)
        }
        if let usable { return usable }
        let token = try await issueToken(.user(id), lifetime: .seconds(localLifetime))
        // File access may block, and the hub's thread may too.
        try await service.perform { _, _ throws(IoTError) in try ownAccount.save(token) }
        return token
    }

    /// - Parameter kind: `member` or `administrator`.
    /// - Throws: `nameTaken`; `invalidRequest` for a temporary account, which `createTemporaryUser` creates.
    public func createUser(_ id: AccessID, kind: AccountKind = .member) async throws(IoTError) {
        guard kind != .temporary else {
            throw IoTError(.invalidRequest, "a temporary account needs a device and an expiry time")
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

    /// Creates a device without an owner.
    ///
    /// - Throws: `invalidRequest` for a bad name, `nameTaken`.
    public func createDevice(name: String) async throws(IoTError) -> (device: DeviceID, token: String) {
        let lifetime = localLifetime
        let (device, token, tokenID) = try await service.perform { core, time throws(IoTError) in
            let device = try core.addDevice(named: name)
            let issued = try core.issueToken(.device(device), lifetime: lifetime, at: time)
            return (device, issued.token, issued.id)
        }
        await broker.waitUntilConfirmed(tokenID)
        return (device, token)
    }

    /// Issues a new token for the device of this daemon's camera `name`. If the camera has no device, this creates one
    /// and binds it to the daemon's own account. Renaming the device later does not change which camera it belongs to.
    /// The tokens of earlier calls are revoked.
    public func ensureDevice(name: String) async throws(IoTError) -> (device: DeviceID, token: String) {
        let account = try await ensureOwnAccount()
        let lifetime = localLifetime
        let (device, newName, token, tokenID) = try await service.perform { core, time throws(IoTError) in
            let isNew = core.state.cameras[name] == nil
            let device = try core.ensureDevice(camera: name, owner: account, at: time)
            core.removeTokens(of: .device(device)) { $0.isLocal }
            let issued = try core.issueToken(.device(device), lifetime: lifetime, isLocal: true, at: time)
            return (device, isNew ? core.state.devices[device]?.name : nil, issued.token, issued.id)
        }
        if let newName, newName != name {
            logger.warning(
                "another device has the camera's name, so the camera's new device got a different name",
                metadata: ["camera": "\(name)", "device.name": "\(newName)", "device.id": "\(device)"])
        }
        await broker.waitUntilConfirmed(tokenID)
        return (device, token)
    }

    /// The devices of `devices` that an account owns.
    public func ownedDevices(among devices: [DeviceID]) async throws(IoTError) -> Set<DeviceID> {
        try await service.perform { core, _ throws(IoTError) in
            Set(devices.filter { core.state.bindings.owner(of: $0) != nil })
        }
    }

    /// The devices by their names.
    public func deviceNames() async throws(IoTError) -> [String: DeviceID] {
        try await service.perform { core, _ throws(IoTError) in core.state.names }
    }

    public func renameDevice(_ device: DeviceID, to name: String) async throws(IoTError) {
        try await service.perform { core, time throws(IoTError) in
            try core.renameDevice(device, to: name, at: time)
        }
    }

    /// Removes a device with its model, bindings and tokens, and ends its session.
    public func removeDevice(_ device: DeviceID) async throws(IoTError) {
        try await service.perform { core, time throws(IoTError) in try core.removeDevice(device, at: time) }
    }

    /// Gives an account a role and actions at a device, or changes them. The change applies from the next request, and
    /// ends calls that the new actions no longer allow.
    ///
    /// - Parameters:
    ///   - actions: The actions of a guest; `nil` is `view` alone. An owner has all actions.
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

    /// Removes the binding and ends the user's calls and pushes.
    ///
    /// - Throws: `relationInvalid` when they are not bound.
    public func unbind(_ user: AccessID, from device: DeviceID) async throws(IoTError) {
        try await service.perform { core, time throws(IoTError) in try core.unbind(user, device, at: time) }
    }

    // MARK: Firmware

    /// From now on, the release is offered to devices.
    ///
    /// - Throws: `notFound`.
    public func completeRelease(_ id: String) async throws(IoTError) {
        try await service.perform { core, _ throws(IoTError) in try core.completeRelease(id) }
    }

    /// Removes the files of releases that the hub does not know: of removed ones.
    public func removeUnknownReleaseFiles() async throws(IoTError) {
        let known = try await service.perform { core, _ throws(IoTError) in Set(core.state.releases.keys) }
        await releases.keepOnly(known)
    }

    // MARK: Tokens

    /// Issues a token. When this returns, the broker knows the token.
    ///
    /// - Parameter lifetime: 1 s to 10 years.
    /// - Throws: `targetNotFound` for an unknown principal.
    public func issueToken(_ principal: Principal, lifetime: Duration) async throws(IoTError) -> String {
        let seconds = lifetime.components.seconds
        let issued = try await service.perform { core, time throws(IoTError) in
            try core.issueToken(principal, lifetime: seconds, at: time)
        }
        await broker.waitUntilConfirmed(issued.id)
        return issued.token
    }

    /// Creates an enrolment string. Its holder may exchange it once for tokens of the account and the devices.
    ///
    /// - Parameter lifetime: 1 s to an hour.
    /// - Throws: `targetNotFound`; `invalidConfiguration` if the hub has no address that others can join at.
    public func enrol(
        user: AccessID?, devices: [DeviceID] = [], lifetime: Duration = .seconds(600)
    ) async throws(IoTError) -> String {
        let seconds = lifetime.components.seconds
        let creator = Principal.user(try await ensureOwnAccount())
        let enrolment = try await service.perform { core, time throws(IoTError) in
            guard Lifetimes.enrolments.contains(seconds), user != nil || !devices.isEmpty else {
                throw IoTError(.invalidRequest, "an enrolment needs an account or a device, and lives 1 s to 1 h")
            }
            for principal in (user.map { [.user($0)] } ?? []) + devices.map(Principal.device) {
                try core.requireKnown(principal)
            }
            return try core.enrol(user: user, devices: devices, lifetime: seconds, by: creator, at: time)
        }
        await broker.waitUntilConfirmed(enrolment.id)
        return enrolment.enrolment
    }

    /// Revokes a token and ends the sessions that use it, or revokes an enrolment. `id` is the token's `jti`.
    ///
    /// - Throws: `notFound`.
    public func revokeToken(id: String) async throws(IoTError) {
        try await service.perform { core, time throws(IoTError) in try core.revokeToken(id, at: time) }
        await broker.waitUntilConfirmed(id)
    }

    /// The address that an enrolment string names. A loopback port without TLS is not given out.
    private static func enrolmentAddress(_ endpoint: LinkEndpoint, authority: [UInt8]?) -> EnrolmentString.Place? {
        switch endpoint {
        case .unixSocket(let path): .unixSocket(path: path)
        case .tls(let host, let port, _): authority.map { .tls(host: host, port: port, authority: $0) }
        case .tcp: nil
        }
    }

    private var localLifetime: Int64 { configuration.localTokenDays * 86_400 }
}
