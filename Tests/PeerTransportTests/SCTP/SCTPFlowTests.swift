import IoTCore
import NIOCore
import Testing

@testable import PeerTransport

/// Congestion control and flow control.
@Suite struct SCTPFlowTests {
    /// The received bytes per second, with the send buffer kept full.
    private func throughput(_ conditions: SCTPLink.Conditions, seed: UInt64, seconds: Int64 = 60) throws -> Int {
        var link = SCTPLink(seed: seed, conditions: conditions)
        try link.connect()
        let message = [UInt8](repeating: 1, count: 16_000)
        link.onStep = { link in
            while (try? link.send(message)) != nil {}
        }
        try link.run(for: .seconds(seconds))
        #expect(link.ended == [false, false])
        return link.messages[1].count * 16_000 / Int(seconds)
    }

    @Test("Throughput is near the rate limit, and under loss near the value for loss-based control")
    func throughput() throws {
        // 1.25 MB/s at 50 ms, with a queue of 100 ms.
        let limited = try throughput(.init(bytesPerSecond: 1_250_000), seed: 1, seconds: 15)
        #expect(limited > 1_000_000)
        // 1.22 · 1128 / (50 ms · √p), about 120 and 270 kB/s (compare RFC 5348 §3.1).
        let five = try throughput(.init(loss: 0.05), seed: 2, seconds: 30)
        #expect(five > 90_000)
        let one = try throughput(.init(loss: 0.01), seed: 3, seconds: 30)
        #expect(one > 220_000)
        let slow = try throughput(.init(loss: 0.05, bytesPerSecond: 30_000), seed: 4)
        #expect(slow > 20_000)
    }

    @Test("Reordering of a few packets is not taken for loss")
    func reordering() throws {
        var link = SCTPLink(seed: 3, conditions: .init(jitter: .microseconds(200)))
        try link.connect()
        for _ in 0..<20 { try link.send([UInt8](repeating: 1, count: 60_000)) }
        try link.run(for: .seconds(20))
        #expect(link.messages[1].count == 20)
        #expect(link.ends[0].counters.timeouts == 0)
    }

    @Test("A closed window is probed now and then and never ends the association; sending continues when it opens")
    func zeroWindow() throws {
        var link = SCTPLink(seed: 8)
        try link.connect()
        // For one minute, every SACK advertises a window of 0 and the data are dropped.
        let opening = link.now + .seconds(60)
        var now = link.now
        link.onStep = { now = $0.now }
        var dataCount = 0
        let tag = link.ends[0].localTag
        var configuration = SCTPConfiguration()
        configuration.maximumPacketSize = 1156
        let cumulative = UInt32(truncatingIfNeeded: link.ends[0].flight.cumulative)
        link.tamper = { receiver, packet in
            guard now < opening else { return packet }
            guard receiver == 1 else { return nil }
            dataCount += 1
            return nil
        }
        try link.send([UInt8](repeating: 7, count: 20_000))
        while link.now < opening {
            var writer = SCTPPacketWriter(configuration, tag: tag)
            _ = writer.append(SCTPAcknowledgement(cumulativeTSN: cumulative, window: 0).write())
            link.ends[0].receive(writer.finish(), at: link.now)
            try link.run(for: .milliseconds(500))
        }
        #expect(link.ended == [false, false])
        // The first window of data, then one chunk each time that the timer expires.
        #expect((5...40).contains(dataCount))
        var writer = SCTPPacketWriter(configuration, tag: tag)
        _ = writer.append(SCTPAcknowledgement(cumulativeTSN: cumulative, window: 1 << 20).write())
        link.ends[0].receive(writer.finish(), at: link.now)
        try link.run(for: .seconds(15))
        #expect(link.messages[1].map(\.payload.readableBytes) == [20_000])
    }

    @Test("A peer's small window is respected")
    func smallWindow() throws {
        var link = SCTPLink(seed: 8) { index, configuration in
            if index == 1 { configuration.receiveWindow = 20_000 }
        }
        try link.connect()
        var highest = 0
        link.onStep = { highest = max(highest, $0.ends[0].flight.byteCount) }
        for _ in 0..<10 { try link.send([UInt8](repeating: 1, count: 15_000)) }
        try link.run(for: .seconds(30))
        #expect(link.messages[1].count == 10)
        #expect(highest <= 20_000 && highest > 10_000)
    }

    @Test("Streams take turns: a long queue in one does not delay the others")
    func fairness() throws {
        var link = SCTPLink(seed: 8, conditions: .init(bytesPerSecond: 100_000))
        try link.connect()
        for _ in 0..<20 { try link.send([UInt8](repeating: 1, count: 10_000), stream: 0) }
        for stream in 1...5 as ClosedRange<UInt16> { try link.send([9], stream: stream) }
        try link.run(for: .seconds(20)) { $0.messages[1].count { $0.stream > 0 } == 5 }
        #expect(link.messages[1].count { $0.stream == 0 } <= 2)
    }

    @Test("Memory stays bounded when a sender is far faster than the link")
    func boundedSender() throws {
        var link = SCTPLink(seed: 8, conditions: .init(loss: 0.02, bytesPerSecond: 50_000))
        try link.connect()
        var refused = 0
        link.onStep = { link in
            for _ in 0..<3 {
                if (try? link.send([UInt8](repeating: 1, count: 30_000))) == nil { refused += 1 }
                #expect(link.ends[0].sendCharge <= link.ends[0].configuration.maximumSendBuffer)
            }
        }
        try link.run(for: .seconds(30))
        #expect(refused > 100)
        #expect(link.ends[0].sendCharge > (2 << 20) - 40_000)
    }
}
