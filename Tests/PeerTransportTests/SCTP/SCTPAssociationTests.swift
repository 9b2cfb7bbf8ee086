import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import PeerTransport

@Suite struct SCTPAssociationTests {
    private func payloads(_ link: SCTPLink, _ side: Int) -> [ByteBuffer] {
        link.messages[side].map(\.payload)
    }

    @Test("Opening by both sides at once, or by one, yields one association", arguments: [nil, 0, 1])
    func opens(side: Int?) throws {
        var link = SCTPLink()
        try link.connect(only: side)
        #expect(link.ends[0].remote?.tag == link.ends[1].localTag)
        #expect(link.ends[1].remote?.tag == link.ends[0].localTag)
        #expect(link.ends[0].remote?.outgoingStreams == 1024)
        try link.send([1, 2, 3], from: 0)
        try link.send([4], from: 1)
        try link.run(for: .seconds(1))
        #expect(payloads(link, 1) == [ByteBuffer(bytes: [1, 2, 3])])
        #expect(payloads(link, 0) == [ByteBuffer(bytes: [4])])
        #expect(link.established == [1, 1] && link.ended == [false, false])
    }

    @Test("Opening succeeds under heavy loss and reordering, by both sides or one", arguments: 1...20)
    func opensUnderLoss(seed: Int) throws {
        var link = SCTPLink(
            seed: UInt64(seed),
            conditions: .init(loss: 0.3, jitter: .milliseconds(200), duplication: 0.2))
        try link.connect(only: seed % 3 == 0 ? 0 : nil)
        #expect(link.restarts == [0, 0])
    }

    @Test(
        "Messages of all sizes arrive complete and in order over a bad link, both ways",
        arguments: [
            (1, SCTPLink.Conditions()),
            (2, SCTPLink.Conditions(loss: 0.05)),
            (3, SCTPLink.Conditions(loss: 0.2, jitter: .milliseconds(60), duplication: 0.1)),
            (4, SCTPLink.Conditions(jitter: .milliseconds(300), duplication: 0.5)),
            (5, SCTPLink.Conditions(loss: 0.02, bytesPerSecond: 200_000)),
        ])
    func deliversReliably(seed: Int, conditions: SCTPLink.Conditions) throws {
        var link = SCTPLink(seed: UInt64(seed), conditions: conditions)
        try link.connect()
        var random = SeededGenerator(seed: UInt64(seed) + 100)
        var sent: [[[UInt8]]] = [[], []]
        var left = 40
        while left > 0 {
            left -= 1
            for side in 0...1 {
                let size = [1, 3, 100, 1127, 1128, 1129, 5000, 64_000][Int.random(in: 0..<8, using: &random)]
                let bytes = random.bytes(size)
                // Retries until there is room (back-pressure).
                while true {
                    do {
                        try link.send(bytes, from: side, stream: UInt16(side) + 7)
                        break
                    } catch {
                        #expect((error as? IoTError)?.code == .channelSendFailed)
                        try link.run(for: .milliseconds(100))
                    }
                }
                sent[side].append(bytes)
            }
        }
        let expected = sent
        try link.run(for: .seconds(600)) {
            $0.messages[0].count == expected[1].count && $0.messages[1].count == expected[0].count
        }
        let areSame =
            payloads(link, 0) == sent[1].map { ByteBuffer(bytes: $0) }
            && payloads(link, 1) == sent[0].map { ByteBuffer(bytes: $0) }
        #expect(areSame)
        try link.run(for: .seconds(20))
        for end in link.ends {
            #expect(end.sendCharge == 0 && end.reassembly.heldByteCount == 0)
            #expect(end.flight.byteCount == 0 && end.flight.lostCount == 0)
            #expect(end.timers.retransmission == nil)
        }
    }
}
