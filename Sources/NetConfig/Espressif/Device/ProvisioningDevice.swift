import IoTCore
import NIOCore
import SwiftProtobuf

/// A device in provisioning mode: it accepts one client at a time, which proves that it knows the device's secret, and
/// sets a network and a hub. Owns no socket, clock, task or logger.
struct ProvisioningDevice: Sendable {
    struct Configuration: Sendable {
        var credential: DeviceCredential
        var identity: DeviceIdentity
        /// The duration of the mode without a client. 10 minutes.
        var lifetime: TimeAmount
        /// Whether a hub and a token are accepted.
        var binds: Bool

        init(
            credential: DeviceCredential, identity: DeviceIdentity, lifetime: TimeAmount = .minutes(10),
            binds: Bool = true
        ) {
            self.credential = credential
            self.identity = identity
            self.lifetime = lifetime
            self.binds = binds
        }
    }

    /// The source of a request: a connection, and the request's number, with which the answer finds it.
    struct Caller: Sendable, Hashable {
        var connection: Int
        var request: Int

        init(connection: Int, request: Int) {
            self.connection = connection
            self.request = request
        }
    }

    enum Output: Sendable {
        case reply(ProvisioningReply, to: Caller)
        /// The shell must answer with `scanned`.
        case scan
        /// The shell must answer with `applied`.
        case apply(WiFiCredentials)
        /// The shell must answer with `bound`.
        case bind(BindOrder)
        case timeout(NIODeadline)
        case end(End)
    }

    /// Why the mode ended.
    enum End: Sendable, Hashable {
        case bound
        /// The device is in its network, and no client set a hub.
        case connected
        case timedOut
    }

    enum Event: Sendable, Hashable {
        case wrongProof
        case authenticated
    }

    /// A session with a client that has proved its knowledge of the secret.
    struct Session: Sendable {
        var cookie: String
        var connection: Int
        var cipher: SessionCipher
    }

    private struct Candidate: Sendable {
        var cookie: String
        var connection: Int
        var handshake: DeviceHandshake
    }

    enum Station: Sendable {
        case idle
        case joining
        case connected(WiFiConnection)
        case failed(WiFiOutcome)
    }

    /// The mode lasts this long after the client has requested the outcome, so that the answer arrives.
    private static let answerTime = TimeAmount.seconds(3)
    /// The mode lasts this long for a client that never requests the outcome.
    private static let outcomeTime = TimeAmount.seconds(60)

    let configuration: Configuration
    private let random: @Sendable (Int) -> [UInt8]
    private var outputs: [Output] = []
    private(set) var events: [Event] = []
    private var delay = ProofDelay()
    private var candidate: Candidate?
    private var session: Session?
    private var isEnded = false
    private var due: NIODeadline
    private var isSettled = false
    var credentials: WiFiCredentials?
    var station = Station.idle
    var order: BindOrder?
    var bindState = BindState.unbound
    private var isBinding = false
    var networks: [WiFiNetwork]?
    var isScanning = false
    /// The request that waits for the scan; only its own session may get the answer.
    private var scanWaiter: (caller: Caller, cookie: String)?

    /// - Parameter random: Returns the requested number of random bytes.
    init(
        _ configuration: Configuration, at now: NIODeadline, random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.configuration = configuration
        self.random = random
        due = now + configuration.lifetime
        outputs.append(.timeout(due))
    }

    mutating func poll() -> Output? {
        outputs.isEmpty ? nil : outputs.removeFirst()
    }

    mutating func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    mutating func emit(_ output: Output) {
        outputs.append(output)
    }

    mutating func timeout(at now: NIODeadline) {
        guard !isEnded else { return }
        guard now >= due else { return emit(.timeout(due)) }
        if case .bound = bindState { return end(.bound) }
        if case .connected = station, bindState == .unbound { return end(.connected) }
        end(.timedOut)
    }

    private mutating func end(_ reason: End) {
        isEnded = true
        session = nil
        candidate = nil
        emit(.end(reason))
    }
}

// MARK: Requests

extension ProvisioningDevice {
    mutating func handle(_ request: ProvisioningRequest, from caller: Caller, at now: NIODeadline) {
        guard !isEnded else { return reply(410, to: caller) }
        guard let endpoint = ProvisioningEndpoint(rawValue: request.endpoint),
            endpoint != .bind || configuration.binds
        else { return reply(404, to: caller) }
        guard !request.body.isEmpty || endpoint == .bind else { return reply(400, to: caller) }
        guard request.body.count <= ProvisioningReply.largestBody else { return reply(413, to: caller) }
        switch endpoint {
        case .version: reply(200, body: Array(version.jsonText.utf8), to: caller)
        case .session: open(request, from: caller, at: now)
        case .scan, .config, .bind: handleSealed(request, endpoint, from: caller, at: now)
        }
    }

    private var version: ProvisioningVersion {
        ProvisioningVersion(
            security: configuration.credential.security, securityPatch: 1,
            capabilities: ["wifi_prov", "wifi_scan"], linkCapabilities: configuration.binds ? ["bind"] : [])
    }

    private mutating func reply(
        _ status: Int, cookie: String? = nil, retryAfter: Int? = nil, body: [UInt8] = [], to caller: Caller
    ) {
        emit(
            .reply(ProvisioningReply(status: status, cookie: cookie, retryAfter: retryAfter, body: body), to: caller))
    }

    private mutating func open(_ request: ProvisioningRequest, from caller: Caller, at now: NIODeadline) {
        guard let message = try? ESPSessionData(serializedBytes: request.body) else { return reply(400, to: caller) }
        do throws(DeviceHandshake.Failure) {
            let kind = DeviceHandshake.kind(message)
            if kind == .opening {
                if let wait = delay.open(at: now) { return reply(429, retryAfter: wait, to: caller) }
                let handshake = try DeviceHandshake(
                    message, credential: configuration.credential, random: random)
                let cookie = "session=\(random(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) })"
                // A newer client replaces one without a proof; an open session stays until the newer one proves itself.
                candidate = Candidate(cookie: cookie, connection: caller.connection, handshake: handshake)
                return reply(200, cookie: cookie, body: handshake.answer, to: caller)
            }
            guard let candidate, belongs(request, caller, candidate.cookie, candidate.connection) else {
                // A client that was replaced, or one that never opened a session.
                return reply(kind == .proof ? 409 : 400, to: caller)
            }
            if let wait = delay.wait(at: now) { return reply(429, retryAfter: wait, to: caller) }
            self.candidate = nil
            let (answer, cipher) = try candidate.handshake.finish(message, random: random)
            delay.right()
            events.append(.authenticated)
            session = Session(cookie: candidate.cookie, connection: candidate.connection, cipher: cipher)
            scanWaiter = nil
            reply(200, body: answer, to: caller)
        } catch {
            switch error {
            case .malformed: reply(400, to: caller)
            case .wrongSecurity: reply(400, to: caller)
            case .wrongProof:
                events.append(.wrongProof)
                reply(403, retryAfter: delay.wrong(at: now), to: caller)
            }
        }
    }

    /// Compares the cookie, or the connection for clients without cookies.
    private func belongs(_ request: ProvisioningRequest, _ caller: Caller, _ cookie: String, _ connection: Int) -> Bool
    {
        guard let sent = request.cookie else { return caller.connection == connection }
        return ConstantTime.equal(Array(sent.utf8), Array(cookie.utf8))
    }

    private mutating func handleSealed(
        _ request: ProvisioningRequest, _ endpoint: ProvisioningEndpoint, from caller: Caller, at now: NIODeadline
    ) {
        guard let current = session, belongs(request, caller, current.cookie, current.connection) else {
            return reply(401, to: caller)
        }
        // The session's next message must be our answer to that scan.
        guard scanWaiter == nil else { return reply(409, to: caller) }
        let plain = session?.cipher.open(request.body)
        let action = plain.flatMap { answer($0, endpoint, at: now) }
        switch action {
        case .body(let body)?:
            guard let sealed = session?.cipher.seal(body) else { return endSession(400, caller) }
            reply(200, body: sealed, to: caller)
        case .afterScan?:
            scanWaiter = (caller, current.cookie)
        case nil:
            // Changed, replayed, out of order, or of another protocol: the two sides' counters no longer match.
            endSession(400, caller)
        }
    }

    private mutating func endSession(_ status: Int, _ caller: Caller) {
        session = nil
        reply(status, to: caller)
    }
}

// MARK: Results from the shell

extension ProvisioningDevice {
    mutating func scanned(_ networks: [WiFiNetwork], at now: NIODeadline) {
        isScanning = false
        self.networks = Array(networks.sorted { $0.rssi > $1.rssi }.prefix(ProvisioningClient.largestScan))
        guard let (caller, cookie) = scanWaiter else { return }
        scanWaiter = nil
        guard session?.cookie == cookie, let sealed = session?.cipher.seal(Self.scanStarted) else {
            return reply(401, to: caller)
        }
        reply(200, body: sealed, to: caller)
    }

    mutating func applied(_ outcome: WiFiOutcome, at now: NIODeadline) {
        guard case .joining = station, !isEnded else { return }
        guard case .connected(let connection) = outcome else {
            station = .failed(outcome)
            return
        }
        station = .connected(connection)
        if order == nil { return settle(after: Self.outcomeTime, at: now) }
        bind()
    }

    /// Emits the request to bind at the hub, once at a time.
    mutating func bind() {
        guard let order, !isBinding else { return }
        isBinding = true
        emit(.bind(order))
    }

    mutating func bound(_ result: Result<Void, IoTError>, at now: NIODeadline) {
        guard !isEnded else { return }
        isBinding = false
        switch result {
        case .success:
            bindState = .bound
            settle(after: Self.outcomeTime, at: now)
        case .failure(let error):
            bindState = .failed(error.code, message: error.message)
            // The client may send another order.
            order = nil
        }
    }

    /// The client has read the final state.
    mutating func outcomeRead(at now: NIODeadline) {
        settle(after: Self.answerTime, at: now)
    }

    /// Ends the mode after this time, if not sooner.
    private mutating func settle(after time: TimeAmount, at now: NIODeadline) {
        let end = now + time
        guard end < due else { return }
        due = end
        emit(.timeout(due))
    }
}
