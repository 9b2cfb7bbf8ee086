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
        /// Whether the device is connected to its network by cable, so that it can get a hub without a Wi-Fi network.
        var isWired: Bool

        init(
            credential: DeviceCredential, identity: DeviceIdentity, lifetime: TimeAmount = .minutes(10),
            binds: Bool = true, isWired: Bool = false
        ) {
            self.credential = credential
            self.identity = identity
            self.lifetime = lifetime
            self.binds = binds
            self.isWired = isWired
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
        case join(DeviceJoining.Step)
    }

    typealias End = DeviceJoining.End

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

    let configuration: Configuration
    /// Contains the device's id as soon as the hub has assigned it.
    var identity: DeviceIdentity
    private let random: @Sendable (Int) -> [UInt8]
    private var outputs: [Output] = []
    private(set) var events: [Event] = []
    private var delay = ProofDelay()
    private var candidate: Candidate?
    private var session: Session?
    var credentials: WiFiCredentials?
    var joining: DeviceJoining
    var networks: [WiFiNetwork]?
    var isScanning = false
    /// The request that waits for the scan; only its own session may get the answer.
    private var scanWaiter: (caller: Caller, cookie: String)?

    /// - Parameter random: Returns the requested number of random bytes.
    init(
        _ configuration: Configuration, at now: NIODeadline, random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.configuration = configuration
        identity = configuration.identity
        self.random = random
        joining = DeviceJoining(lifetime: configuration.lifetime, isWired: configuration.isWired, at: now)
    }

    mutating func poll() -> Output? {
        outputs += joining.takeSteps().map(Output.join)
        return outputs.isEmpty ? nil : outputs.removeFirst()
    }

    mutating func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    mutating func emit(_ output: Output) {
        outputs.append(output)
    }

    mutating func timeout(at now: NIODeadline) {
        joining.timeout(at: now)
        guard joining.isEnded else { return }
        session = nil
        candidate = nil
    }
}

// MARK: Requests

extension ProvisioningDevice {
    mutating func handle(_ request: ProvisioningRequest, from caller: Caller, at now: NIODeadline) {
        guard !joining.isEnded else { return reply(410, to: caller) }
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
            joining.beginSession()
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

    /// - Parameter result: The device's id at the hub; `nil` if the device already knew it.
    mutating func bound(_ result: Result<String?, IoTError>, at now: NIODeadline) {
        if !joining.isEnded, case .success(let id?) = result { identity.id = id }
        joining.bound(result, at: now)
    }
}
