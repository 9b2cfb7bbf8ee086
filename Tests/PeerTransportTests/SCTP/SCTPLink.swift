import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import PeerTransport

/// Two associations and the link between them, in virtual time. The link loses, delays, reorders, duplicates and limits
/// the rate, the same way for the same seed.
struct SCTPLink {
    struct Conditions {
        /// 0 to 1, in each direction.
        var loss = 0.0
        /// One way, without jitter.
        var delay = TimeAmount.milliseconds(25)
        /// Added to each packet's delay, uniformly distributed from 0 to this. A long one causes reordering.
        var jitter = TimeAmount.zero
        var duplication = 0.0
        /// In each direction, with a queue of `queue`; packets that exceed it are dropped.
        var bytesPerSecond: Int?
        var queue = TimeAmount.milliseconds(100)
    }

    private struct Packet {
        var time: NIODeadline
        var order: Int
        var bytes: ByteBuffer
        var receiver: Int
    }

    var ends: [SCTPAssociation]
    var conditions: Conditions
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    var messages: [[SCTPMessage]] = [[], []]
    var resets: [(incoming: [UInt16], outgoing: [UInt16])] = [([], []), ([], [])]
    var established = [0, 0]
    var restarts = [0, 0]
    var ended: [Bool] = [false, false]
    var errors: [ErrorCode?] = [nil, nil]

    /// Records all sent packets with their sender, if set.
    var isCapturing = false
    var captured: [(sender: Int, bytes: ByteBuffer)] = []

    /// Returns what arrives instead of a packet; `nil` for nothing.
    var tamper: (Int, ByteBuffer) -> ByteBuffer? = { $1 }
    /// Called before each step; may send more.
    var onStep: (inout SCTPLink) throws -> Void = { _ in }

    private var flying: [Packet] = []
    private var order = 0
    private var lineFree: [NIODeadline] = [.uptimeNanoseconds(0), .uptimeNanoseconds(0)]
    var random: SeededGenerator
    private(set) var steps = 0

    init(
        seed: UInt64 = 1, conditions: Conditions = Conditions(),
        configure: (Int, inout SCTPConfiguration) -> Void = { _, _ in }
    ) {
        self.conditions = conditions
        random = SeededGenerator(seed: seed)
        ends = []
        for index in 0...1 {
            var configuration = SCTPConfiguration()
            configure(index, &configuration)
            ends.append(
                SCTPAssociation(
                    configuration: configuration, generator: SeededGenerator(seed: seed &* 2 &+ UInt64(index)), now: now
                ))
        }
    }

    /// Opens both sides at once, as WebRTC peers do.
    mutating func connect(only side: Int? = nil) throws {
        for index in 0...1 where side == nil || side == index { ends[index].connect(at: now) }
        try run(for: .seconds(30)) { $0.established == [1, 1] }
        try #require(established == [1, 1])
    }

    mutating func send(
        _ bytes: [UInt8], from side: Int = 0, stream: UInt16 = 0, payloadProtocol: UInt32 = 53,
        isUnordered: Bool = false, reliability: SCTPReliability = .reliable
    ) throws {
        try ends[side].send(
            ByteBuffer(bytes: bytes), on: stream, payloadProtocol: payloadProtocol, isUnordered: isUnordered,
            reliability: reliability, at: now)
    }

    mutating func run(for time: TimeAmount, until condition: (SCTPLink) -> Bool = { _ in false }) throws {
        let end = now + time
        while true {
            try onStep(&self)
            for index in 0...1 { drain(index) }
            if condition(self) || now >= end { return }
            var next = end
            for index in 0...1 {
                if let deadline = ends[index].nextDeadline { next = min(next, deadline) }
            }
            if let arrival = flying.first?.time { next = min(next, arrival) }
            now = max(now, next)
            steps += 1
            try #require(steps < 2_000_000)
            while let packet = flying.first, packet.time <= now {
                flying.removeFirst()
                if let bytes = tamper(packet.receiver, packet.bytes) {
                    ends[packet.receiver].receive(bytes, at: now)
                    drain(packet.receiver)
                }
            }
            for index in 0...1 {
                if let deadline = ends[index].nextDeadline, deadline <= now { ends[index].handleTimeout(at: now) }
            }
        }
    }

    mutating func drain(_ index: Int) {
        while let packet = ends[index].nextPacket() {
            #expect(packet.readableBytes <= ends[index].configuration.maximumPacketSize)
            transmit(packet, from: index)
        }
        while let event = ends[index].nextEvent() {
            switch event {
            case .established: established[index] += 1
            case .message(let message): messages[index].append(message)
            case .incomingStreamsReset(let streams): resets[index].incoming += streams
            case .outgoingStreamsReset(let streams): resets[index].outgoing += streams
            case .restarted: restarts[index] += 1
            case .ended(let error):
                ended[index] = true
                errors[index] = error?.code
            }
        }
    }

    mutating func transmit(_ packet: ByteBuffer, from index: Int) {
        if isCapturing { captured.append((index, packet)) }
        guard Double.random(in: 0..<1, using: &random) >= conditions.loss else { return }
        var time = now
        if let rate = conditions.bytesPerSecond {
            let start = max(lineFree[index], now)
            guard start - now <= conditions.queue else { return }
            lineFree[index] = start + .nanoseconds(Int64(packet.readableBytes) * 1_000_000_000 / Int64(rate))
            time = lineFree[index]
        }
        let copies = Double.random(in: 0..<1, using: &random) < conditions.duplication ? 2 : 1
        for _ in 0..<copies {
            let jitter =
                conditions.jitter > .zero
                ? Int64.random(in: 0...conditions.jitter.nanoseconds, using: &random) : 0
            enqueue(
                Packet(
                    time: time + conditions.delay + .nanoseconds(jitter), order: order, bytes: packet,
                    receiver: 1 - index))
            order += 1
        }
    }

    private mutating func enqueue(_ packet: Packet) {
        var low = 0
        var high = flying.count
        while low < high {
            let middle = (low + high) / 2
            if flying[middle].time <= packet.time { low = middle + 1 } else { high = middle }
        }
        flying.insert(packet, at: low)
    }

    /// The chunks of the captured packets, in order.
    func capturedChunks(from sender: Int) -> [SCTPRawChunk] {
        captured.filter { $0.sender == sender }.flatMap { entry in
            var chunks: [SCTPRawChunk] = []
            guard var packet = SCTPPacket(parsing: entry.bytes) else { return chunks }
            while let chunk = packet.nextChunk() { chunks.append(chunk) }
            return chunks
        }
    }
}
