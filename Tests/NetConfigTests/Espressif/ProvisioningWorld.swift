import IoTCore
import NIOCore
import TestSupport

@testable import NetConfig

/// Both sides in virtual time, with what may go wrong between them. The same seed gives the same run.
struct ProvisioningWorld {
    struct Network {
        /// Chances of a hundred, for each request.
        var lostRequests = 0
        var lostReplies = 0
        /// An eavesdropper sends the request once more, some time later.
        var replays = 0
        var changes = 0
        /// From then on the device is gone.
        var vanishesAt: TimeAmount?
        /// The device closes its access point so long after it joined.
        var closesAfterJoining: TimeAmount?
    }

    private enum Event {
        case clientDue
        case deviceDue
        case toDevice(ProvisioningRequest, Int?)
        case toClient(ProvisioningClient.Input, Int)
        case scanned, applied, bound
    }

    private(set) var client: ProvisioningClient
    private(set) var device: ProvisioningDevice
    private let network: Network
    private let outcome: WiFiOutcome
    private let binding: Result<String?, IoTError>
    private let heard: [WiFiNetwork]
    private var random: SeededGenerator
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private var now: NIODeadline
    private var queue: [(time: NIODeadline, order: Int, event: Event)] = []
    private var order = 0
    private var request = 0
    private var joinedAt: NIODeadline?

    private(set) var progress: [ProvisioningProgress] = []
    private(set) var result: Result<ProvisioningOutcome, IoTError>?
    private(set) var end: ProvisioningDevice.End?
    private(set) var given: [WiFiCredentials] = []
    private(set) var orders: [BindOrder] = []
    private(set) var statuses: [Int] = []
    /// All that went over the air.
    private(set) var air: [[UInt8]] = []

    init(
        _ plan: ProvisioningPlan, credential: DeviceCredential, network: Network = Network(), seed: UInt64 = 1,
        outcome: WiFiOutcome = .connected(WiFiConnection(address: "192.0.2.9", ssid: Array("Home".utf8))),
        binding: Result<String?, IoTError> = .success(nil), binds: Bool = true, isWired: Bool = false,
        networks: Int = 20
    ) {
        now = start
        self.network = network
        self.outcome = outcome
        self.binding = binding
        random = SeededGenerator(seed: seed)
        heard = (0..<networks).map {
            WiFiNetwork(
                ssid: Array("Net \($0)".utf8), bssid: [2, 0, 0, 0, 0, UInt8($0)], channel: 1 + $0 % 13, rssi: -40 - $0,
                authentication: .wpa2)
        }
        let (a, b) = (Self.source(seed &+ 1), Self.source(seed &+ 2))
        client = ProvisioningClient(plan, random: a)
        device = ProvisioningDevice(
            .init(
                credential: credential, identity: DeviceIdentity(id: "camera", keyFingerprint: [1, 2, 3]), binds: binds,
                isWired: isWired),
            at: start, random: b)
    }

    /// Gives other bytes at each call, the same from the same seed.
    static func source(_ seed: UInt64) -> @Sendable (Int) -> [UInt8] {
        let generator = LockedGenerator(seed: seed)
        return { generator.bytes($0) }
    }

    private mutating func add(_ event: Event, after time: TimeAmount) {
        order += 1
        queue.append((now + time, order, event))
    }

    private mutating func happens(_ chance: Int) -> Bool {
        chance > 0 && Int.random(in: 0..<100, using: &random) < chance
    }

    /// Until the client has finished and the device has ended; the device alone for up to an hour.
    ///
    /// - Throws: when the client has not finished.
    mutating func run(steps: Int = 20_000) throws -> Result<ProvisioningOutcome, IoTError> {
        client.start(at: now)
        pump()
        var left = steps
        while left > 0, result == nil || end == nil,
            let next = queue.indices.min(by: { (queue[$0].time, queue[$0].order) < (queue[$1].time, queue[$1].order) })
        {
            left -= 1
            let (time, _, event) = queue.remove(at: next)
            now = max(now, time)
            take(event)
            pump()
        }
        guard let result else { throw IoTError(.internalFailure, "the client did not finish") }
        return result
    }

    var elapsed: TimeAmount { now - start }

    private var isGone: Bool {
        if let after = network.vanishesAt, now >= start + after { return true }
        if let after = network.closesAfterJoining, let joinedAt, now >= joinedAt + after { return true }
        return false
    }

    private mutating func take(_ event: Event) {
        switch event {
        case .clientDue: client.handle(.timeout, at: now)
        case .deviceDue: device.timeout(at: now)
        case .toDevice(let request, let number):
            guard !isGone else { return }
            device.handle(request, from: .init(connection: number ?? -1, request: number ?? -order), at: now)
        case .toClient(let input, let number):
            if number == request { client.handle(input, at: now) }
        case .scanned: device.scanned(heard, at: now)
        case .applied:
            if case .connected = outcome { joinedAt = joinedAt ?? now }
            device.joining.applied(outcome, at: now)
        case .bound: device.bound(binding, at: now)
        }
    }

    private mutating func pump() {
        while let output = client.poll() {
            switch output {
            case .send(let sent): send(sent)
            case .timeout(let due): add(.clientDue, after: due - now)
            case .progress(let step): progress.append(step)
            case .finished(let end): result = end
            }
        }
        while let output = device.poll() {
            switch output {
            case .reply(let reply, let caller): answer(reply, caller)
            case .scan: add(.scanned, after: .seconds(2))
            case .join(.apply(let credentials)):
                given.append(credentials)
                add(.applied, after: .seconds(4))
            case .join(.bind(let order)):
                orders.append(order)
                add(.bound, after: .seconds(1))
            case .join(.timeout(let due)): add(.deviceDue, after: due - now)
            case .join(.end(let reason)): end = reason
            }
        }
    }

    private mutating func send(_ sent: ProvisioningRequest) {
        request += 1
        air.append(sent.body)
        guard !happens(network.lostRequests), !isGone else {
            return add(.toClient(.lost("the connection ended"), request), after: .milliseconds(500))
        }
        var delivered = sent
        if happens(network.changes), let place = delivered.body.indices.randomElement(using: &random) {
            delivered.body[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        add(.toDevice(delivered, request), after: .milliseconds(5))
        if happens(network.replays) {
            add(.toDevice(sent, nil), after: .milliseconds(Int64.random(in: 6..<3000, using: &random)))
        }
    }

    private mutating func answer(_ reply: ProvisioningReply, _ caller: ProvisioningDevice.Caller) {
        statuses.append(reply.status)
        guard caller.connection >= 0 else { return }
        air.append(reply.body)
        let isLost = happens(network.lostReplies) || isGone
        add(
            .toClient(isLost ? .lost("the connection ended") : .reply(reply), caller.request),
            after: .milliseconds(isLost ? 500 : 5))
    }
}

/// `@unchecked Sendable`: used by one test, on one thread.
private final class LockedGenerator: @unchecked Sendable {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    func bytes(_ count: Int) -> [UInt8] {
        generator.bytes(count)
    }
}

// Inside #require nothing may be changed.

extension SessionCipher {
    mutating func sealed(_ bytes: [UInt8]) throws -> [UInt8] {
        guard let sealed = seal(bytes) else { throw IoTError(.internalFailure, "not sealed") }
        return sealed
    }

    mutating func opened(_ bytes: [UInt8]) throws -> [UInt8] {
        guard let plain = open(bytes) else { throw IoTError(.internalFailure, "not opened") }
        return plain
    }
}

extension NonceCounterCipher {
    mutating func sealed(_ bytes: [UInt8]) throws -> [UInt8] {
        guard let sealed = seal(bytes) else { throw IoTError(.internalFailure, "not sealed") }
        return sealed
    }
}
