import IoTCore
import NIOCore
import SwiftProtobuf

/// A client that brings one device into a Wi-Fi network, from the version request to the device's report that it has
/// joined. Owns no socket, clock, task or logger.
///
/// After a request without an answer it opens a new session, because neither side knows the other's counter. If the
/// device was not yet asked to join, all steps are repeated; otherwise only its state is requested.
struct ProvisioningClient: Sendable {
    enum Output: Sendable {
        case send(ProvisioningRequest)
        case progress(ProvisioningProgress)
        case finished(Result<ProvisioningOutcome, IoTError>)
        /// Wait for the answer.
        case timeout(NIODeadline)
    }

    enum Input: Sendable {
        case reply(ProvisioningReply)
        /// The request could not be sent, or its connection ended.
        case lost(String)
        case timeout
    }

    enum Step: Sendable, Equatable {
        case version, opening, proving, scanStart, scanStatus, scanResult, set, order, apply, status, bindState
    }

    enum Waiting: Sendable, Equatable {
        case answer(Step)
        /// Continue with this step.
        case pause(Step)
        case nothing
    }

    static let largestScan = 64
    private static let answerTime = TimeAmount.seconds(10)
    private static let scanTime = TimeAmount.seconds(30)
    private static let pollPause = TimeAmount.seconds(1)
    private static let attempts = 6
    /// A device that closes its access point after joining never reports; its state is requested for this long.
    private static let vanishTime = TimeAmount.seconds(20)

    let plan: ProvisioningPlan
    private let random: @Sendable (Int) -> [UInt8]
    var outcome = ProvisioningOutcome()
    var expectedNetworks = 0
    private var outputs: [Output] = []
    private var waiting = Waiting.nothing
    private var due: NIODeadline?
    private var deadline = NIODeadline.distantFuture
    private var failures = 0
    private var closedAtProof = 0
    private var silentSince: NIODeadline?
    private var handshake: ClientHandshake?
    private var cipher: SessionCipher?
    private var cookie: String?
    /// Whether the device was asked to join, or may have been.
    var isApplied = false
    private var version: ProvisioningVersion?

    /// - Parameter random: Returns the requested number of random bytes.
    init(_ plan: ProvisioningPlan, random: @escaping @Sendable (Int) -> [UInt8]) {
        self.plan = plan
        self.random = random
    }

    mutating func start(at now: NIODeadline) {
        deadline = now + TimeAmount(plan.patience)
        ask(.version, at: now)
    }

    mutating func poll() -> Output? {
        outputs.isEmpty ? nil : outputs.removeFirst()
    }

    mutating func handle(_ input: Input, at now: NIODeadline) {
        switch (input, waiting) {
        case (_, .nothing):
            return
        case (.reply(let reply), .answer(let step)):
            silentSince = nil
            answered(reply, step, at: now)
        case (.lost(let reason), .answer(let step)):
            // After a wrong proof, a real device closes the connection without an answer.
            if step == .proving {
                closedAtProof += 1
                guard closedAtProof < 2 else { return finish(.failure(Self.closedOnProof)) }
            }
            lost(reason, step, at: now)
        case (.timeout, .answer(let step)):
            guard now >= due ?? .distantFuture else { return rearm() }
            lost("the device did not answer in time", step, at: now)
        case (.timeout, .pause(let step)):
            guard now >= due ?? .distantFuture else { return rearm() }
            ask(step, at: now)
        case (.reply, .pause), (.lost, .pause):
            // A late answer to an abandoned request.
            rearm()
        }
    }

    private static let closedOnProof = IoTError(
        .provisioningProofWrong, "the device ends the connection when it sees the proof",
        remedy: "compare the secret with the device's label")

    private func isPast(_ now: NIODeadline) -> Bool { now >= deadline }

    private mutating func rearm() {
        if let due { outputs.append(.timeout(due)) }
    }
}

// MARK: Requests

extension ProvisioningClient {
    private mutating func ask(_ step: Step, at now: NIODeadline) {
        guard !isPast(now) else { return finishLate() }
        let endpoint: ProvisioningEndpoint
        let plain: [UInt8]
        switch step {
        case .version:
            // Real devices refuse an empty body.
            (endpoint, plain) = (.version, Array(ProvisioningVersion.ours.utf8))
        case .opening:
            cookie = nil
            cipher = nil
            do throws(IoTError) {
                let handshake = try ClientHandshake(plan.credential, random: random)
                self.handshake = handshake
                (endpoint, plain) = (.session, handshake.opening)
            } catch {
                return finish(.failure(error))
            }
        case .proving:
            return
        default:
            endpoint = Self.endpoint(step)
            let text = message(step)
            guard let sealed = cipher?.seal(text) else { return ask(.opening, at: now) }
            plain = sealed
        }
        send(endpoint, plain, step, at: now)
    }

    private mutating func send(_ endpoint: ProvisioningEndpoint, _ body: [UInt8], _ step: Step, at now: NIODeadline) {
        let due = min(deadline, now + (step == .scanStart ? Self.scanTime : Self.answerTime))
        self.due = due
        waiting = .answer(step)
        outputs.append(.send(ProvisioningRequest(endpoint: endpoint.rawValue, cookie: cookie, body: body)))
        outputs.append(.timeout(due))
    }

    /// Repeats the request after a pause.
    mutating func pause(_ step: Step, for time: TimeAmount? = nil, at now: NIODeadline) {
        let due = min(deadline, now + (time ?? Self.pollPause))
        self.due = due
        waiting = .pause(step)
        outputs.append(.timeout(due))
    }

    mutating func report(_ progress: ProvisioningProgress) {
        outputs.append(.progress(progress))
    }

    mutating func finish(_ result: Result<ProvisioningOutcome, IoTError>) {
        waiting = .nothing
        due = nil
        cipher = nil
        outputs.append(.finished(result))
    }
}

// MARK: Answers

extension ProvisioningClient {
    private mutating func answered(_ reply: ProvisioningReply, _ step: Step, at now: NIODeadline) {
        guard reply.status == 200 else { return refused(reply, step, at: now) }
        if let new = reply.cookie { cookie = new }
        do throws(IoTError) {
            switch step {
            case .version:
                try read(version: reply.body)
                ask(.opening, at: now)
            case .opening:
                guard var handshake else { return }
                let proof = try handshake.prove(reply.body)
                self.handshake = handshake
                send(.session, proof, .proving, at: now)
            case .proving:
                cipher = try handshake?.finish(reply.body)
                handshake = nil
                closedAtProof = 0
                report(.authenticated)
                ask(isApplied ? .status : firstStep, at: now)
            default:
                guard let plain = cipher?.open(reply.body) else {
                    return lost("the device's answer does not belong to this session", step, at: now)
                }
                failures = 0
                try read(plain, step, at: now)
            }
        } catch {
            finish(.failure(error))
        }
    }

    private var firstStep: Step {
        plan.scans && outcome.networks.isEmpty ? .scanStart : plan.network == nil ? .scanStart : .set
    }

    /// Continues with the next step.
    mutating func proceed(to step: Step, at now: NIODeadline) {
        ask(step, at: now)
    }

    private mutating func read(version body: [UInt8]) throws(IoTError) {
        guard let version = ProvisioningVersion(parsing: body) else {
            throw IoTError(
                .provisioningRefused, "what answers there is not a device in provisioning mode",
                remedy: "check the address, and that this machine is in the camera's own network")
        }
        let offered = version.security ?? (version.capabilities.contains("no_sec") ? 0 : 1)
        guard offered == plan.credential.security else {
            throw IoTError(
                .provisioningSecurity,
                "the device speaks security \(offered), and the secret given is one of security \(plan.credential.security)",
                remedy: offered == 0
                    ? "update the device: without security anybody near it reads the Wi-Fi password"
                    : offered == 1
                        ? "give its proof of possession (--pop-file)" : "give its user and password (--user)")
        }
        // Before patch 1 every message has the same nonce, so AES-GCM provides neither secrecy nor authenticity.
        guard offered != 2 || version.securityPatch >= 1 else {
            throw IoTError(
                .provisioningSecurity, "the device's security 2 repeats its nonces",
                remedy: "update the device's firmware")
        }
        guard plan.bind == nil || version.linkCapabilities.contains("bind") else {
            throw IoTError(
                .provisioningRefused, "the device takes no hub and token over its access point",
                remedy: "give it the network alone, and bind it by its maker's way")
        }
        self.version = version
        report(.found(version: version.version, security: offered))
    }

    private mutating func refused(_ reply: ProvisioningReply, _ step: Step, at now: NIODeadline) {
        let wrongProof = IoTError(
            .provisioningProofWrong, "the device refuses the proof",
            remedy: "compare the secret with the device's label; after each wrong one it waits longer")
        switch (reply.status, step) {
        case (403, .opening), (403, .proving), (500, .proving):
            finish(.failure(wrongProof))
        case (429, _), (503, _):
            let wait = reply.retryAfter ?? 1
            guard wait <= 15, failures < Self.attempts else {
                return finish(
                    .failure(
                        IoTError(
                            .tooManyRequests, "the device takes no proof for \(wait) s, after wrong ones",
                            remedy: "wait that long, and compare the secret with the device's label")))
            }
            failures += 1
            pause(version == nil ? .version : .opening, for: .seconds(Int64(max(1, wait))), at: now)
        case (401, _), (409, _):
            lost("the device has no such session any more", step, at: now)
        case (410, _) where isApplied:
            finishVanished()
        case (404, .order):
            finish(.failure(IoTError(.provisioningRefused, "the device takes no hub and token")))
        default:
            finish(.failure(IoTError(.provisioningRefused, "the device answered with the HTTP status \(reply.status)")))
        }
    }

    private mutating func lost(_ reason: String, _ step: Step, at now: NIODeadline) {
        failures += 1
        cipher = nil
        if step == .apply { isApplied = true }
        let since = silentSince ?? now
        silentSince = since
        if isPast(now) { return finishLate() }
        if isApplied {
            if now >= since + Self.vanishTime { return finishVanished() }
        } else if failures >= Self.attempts {
            let isUnknown = version == nil
            return finish(
                .failure(
                    IoTError(
                        isUnknown ? .provisioningUnreachable : .provisioningVanished,
                        isUnknown ? "no device answers there: \(reason)" : "the device stopped answering: \(reason)")))
        }
        report(.retrying(reason: reason))
        pause(version == nil ? .version : .opening, at: now)
    }

    private mutating func finishVanished() {
        // The device had joined before it disappeared; the hub knows whether the binding succeeded.
        if outcome.connection != nil { return finish(.success(outcome)) }
        finish(
            .failure(
                IoTError(
                    .provisioningVanished, "the device left its access point before it said whether it had joined",
                    remedy: "look whether it comes online; if not, reset it and try again")))
    }

    private mutating func finishLate() {
        if version == nil {
            return finish(.failure(IoTError(.provisioningUnreachable, "no device answers there")))
        }
        if outcome.connection != nil { return finish(.success(outcome)) }
        finish(.failure(IoTError(.provisioningTimeout)))
    }
}
