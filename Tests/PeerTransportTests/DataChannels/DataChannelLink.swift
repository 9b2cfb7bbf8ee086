import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import PeerTransport

/// Two sides with data channels, and a link with loss and delay, in virtual time.
struct DataChannelLink {
    /// End 0 is the DTLS client.
    var ends: [DataChannelTransport]
    var now = NIODeadline.uptimeNanoseconds(7_000_000_000)
    var loss = 0.0
    var jitter = TimeAmount.zero
    var delay = TimeAmount.milliseconds(20)
    var opened: [[DataChannel]] = [[], []]
    var messages: [[(id: DataChannelID, message: DataChannelMessage)]] = [[], []]
    var closed: [[(id: DataChannelID, error: ErrorCode?)]] = [[], []]
    var low: [[DataChannelID]] = [[], []]
    private var flying: [(time: NIODeadline, receiver: Int, bytes: ByteBuffer)] = []
    private var random: SeededGenerator
    private var steps = 0

    init(
        seed: UInt64 = 1, configurations: [DataChannelConfiguration] = [.init(), .init()]
    ) {
        random = SeededGenerator(seed: seed)
        ends = configurations.enumerated().map { index, configuration in
            DataChannelTransport(
                configuration: configuration, generator: SeededGenerator(seed: seed &* 3 &+ UInt64(index)))
        }
    }

    mutating func start(_ side: Int) {
        ends[side].start(
            DataChannelTransport.Agreement(
                isDTLSClient: side == 0, localPort: 5000, remotePort: 5000,
                peerMaximumMessage: ends[1 - side].configuration.maximumReceivedMessage), at: now)
    }

    mutating func connect() throws {
        start(0)
        start(1)
        try run(for: .seconds(5)) { link in link.ends.allSatisfy { $0.association?.state == .established } }
        try #require(ends.allSatisfy { $0.association?.state == .established })
    }

    mutating func open(
        _ side: Int, _ label: String = "a", options: DataChannelOptions = DataChannelOptions()
    ) throws -> DataChannelID {
        try ends[side].open(label: label, subprotocol: "", options: options, at: now).id
    }

    /// Opens a channel. Returns both sides' ids of it.
    mutating func openBoth(
        _ side: Int = 0, _ label: String = "a", options: DataChannelOptions = DataChannelOptions()
    ) throws -> [DataChannelID] {
        let count = opened[1 - side].count
        let id = try open(side, label, options: options)
        try run(for: .seconds(30)) { $0.opened[1 - side].count > count }
        let other = try #require(opened[1 - side].last).id
        return side == 0 ? [id, other] : [other, id]
    }

    mutating func send(_ side: Int, _ message: DataChannelMessage, on id: DataChannelID) throws {
        try ends[side].send(message, on: id, at: now)
    }

    mutating func close(_ side: Int, _ id: DataChannelID) {
        ends[side].close(id, at: now)
    }

    mutating func run(for time: TimeAmount, until condition: (DataChannelLink) -> Bool = { _ in false }) throws {
        let end = now + time
        while true {
            for side in 0...1 { drain(side) }
            if condition(self) || now >= end { return }
            var next = end
            for side in 0...1 {
                if let deadline = ends[side].nextDeadline { next = min(next, deadline) }
            }
            if let time = flying.map(\.time).min() { next = min(next, time) }
            now = max(now, next)
            steps += 1
            try #require(steps < 1_000_000)
            let due = flying.filter { $0.time <= now }.sorted { $0.time < $1.time }
            flying.removeAll { $0.time <= now }
            for packet in due { ends[packet.receiver].receive(packet.bytes, at: now) }
            for side in 0...1 {
                if let deadline = ends[side].nextDeadline, deadline <= now { ends[side].handleTimeout(at: now) }
            }
        }
    }

    private mutating func drain(_ side: Int) {
        while let packet = ends[side].nextPacket(at: now) {
            guard Double.random(in: 0..<1, using: &random) >= loss else { continue }
            let extra = jitter > .zero ? Int64.random(in: 0...jitter.nanoseconds, using: &random) : 0
            flying.append((now + delay + .nanoseconds(extra), 1 - side, packet))
        }
        while let event = ends[side].nextEvent() {
            switch event {
            case .opened(let channel): opened[side].append(channel)
            case .message(let id, let message): messages[side].append((id, message))
            case .closed(let id, let error): closed[side].append((id, error?.code))
            case .bufferedAmountLow(let id): low[side].append(id)
            }
        }
    }
}
