import IoTCore
import NIOCore
import Testing

@testable import PeerTransport

@Suite struct SCTPPartialReliabilityTests {
    private func number(_ message: SCTPMessage) -> Int {
        Int(message.payload.getInteger(at: message.payload.readerIndex, as: UInt32.self) ?? 0)
    }

    private func bytes(_ number: Int, count: Int) -> [UInt8] {
        var buffer = ByteBuffer(integer: UInt32(number))
        buffer.writeRepeatingByte(UInt8(truncatingIfNeeded: number), count: count - 4)
        return Array(buffer.readableBytesView)
    }

    @Test(
        "Messages without retransmission never block the others, short or long, ordered or not",
        arguments: [(1, 100, false), (2, 100, true), (3, 9000, false), (4, 9000, true), (5, 40_000, true)])
    func withoutRetransmission(seed: Int, size: Int, isUnordered: Bool) throws {
        var link = SCTPLink(
            seed: UInt64(seed), conditions: .init(loss: 0.05, jitter: seed == 2 ? .milliseconds(40) : .zero))
        try link.connect()
        let count = 60
        for index in 0..<count {
            try link.send(
                bytes(index, count: size), stream: 3, isUnordered: isUnordered, reliability: .retransmissions(0))
            try link.send(bytes(index, count: 50), stream: 4)
            try link.run(for: .milliseconds(200))
        }
        try link.run(for: .seconds(30))
        let unreliable = link.messages[1].filter { $0.stream == 3 }
        let reliable = link.messages[1].filter { $0.stream == 4 }
        #expect(reliable.map(number) == Array(0..<count))
        let areWhole = unreliable.allSatisfy { Array($0.payload.readableBytesView) == bytes(number($0), count: size) }
        #expect(areWhole)
        #expect(unreliable.count < count)
        #expect(unreliable.count > 0)
        #expect(Set(unreliable.map(number)).count == unreliable.count)
        if !isUnordered { #expect(unreliable.map(number) == unreliable.map(number).sorted()) }
        #expect(link.ends[0].counters.messagesAbandoned > 0)
        #expect(link.ended == [false, false])
        #expect(link.ends[0].flight.isEmpty && link.ends[0].sendCharge == 0)
        #expect(link.ends[1].reassembly.heldByteCount == 0)
        #expect(link.ends[0].timers.retransmission == nil)
    }

    @Test("With a few retransmissions before giving up, most messages arrive")
    func fewRetransmissions() throws {
        var link = SCTPLink(seed: 9, conditions: .init(loss: 0.1))
        try link.connect()
        for index in 0..<200 {
            try link.send(bytes(index, count: 300), reliability: .retransmissions(4))
            try link.run(for: .milliseconds(30))
        }
        try link.run(for: .seconds(30))
        #expect(link.messages[1].count >= 199)
        #expect(link.ends[0].counters.chunksRetransmitted > 10)
    }

    @Test("After an outage of the link, expired messages are not sent; new ones arrive at once")
    func lifetime() throws {
        var link = SCTPLink(seed: 5)
        try link.connect()
        link.conditions.loss = 1
        for index in 0..<50 {
            let deadline = link.now + .milliseconds(300)
            try link.send(bytes(index, count: 1000), reliability: .until(deadline))
            try link.run(for: .milliseconds(100))
        }
        link.conditions.loss = 0
        // The timer has backed off during the outage.
        try link.run(for: .seconds(11))
        let before = link.messages[1].count
        #expect(before <= 4)
        try link.send(bytes(99, count: 1000), reliability: .until(link.now + .milliseconds(300)))
        try link.run(for: .milliseconds(200))
        #expect(link.messages[1].count == before + 1)
        #expect(link.messages[1].last.map(number) == 99)
        try link.run(for: .seconds(1))
        #expect(link.ends[0].sendCharge == 0)
    }

    @Test("To a peer without FORWARD TSN everything is reliable")
    func withoutSupport() throws {
        var link = SCTPLink(seed: 6, conditions: .init(loss: 0.1))
        try link.connect()
        link.ends[0].remote?.supportsForwardTSN = false
        for index in 0..<100 { try link.send(bytes(index, count: 500), reliability: .retransmissions(0)) }
        try link.run(for: .seconds(60)) { $0.messages[1].count == 100 }
        #expect(link.messages[1].map(number) == Array(0..<100))
    }

    @Test("The rest of an abandoned message is skipped with one more number, so that nothing is appended to it")
    func endsAbandonedMessage() throws {
        var link = SCTPLink(seed: 6)
        try link.connect()
        link.isCapturing = true
        link.conditions.loss = 1
        try link.send(bytes(1, count: 40_000), reliability: .retransmissions(0))
        try link.run(for: .seconds(1))
        let chunks = link.capturedChunks(from: 0)
        let sent = chunks.filter { $0.type == SCTPChunkType.data }.count
        let forward = chunks.first { $0.type == SCTPChunkType.forwardTSN }.flatMap { SCTPForwardTSN($0) }
        #expect(sent > 1 && sent < 35)
        #expect(forward?.newCumulativeTSN == link.ends[0].localTSN &+ UInt32(sent))
        #expect(forward?.streams == [.init(stream: 0, sequence: 0)])
    }
}
