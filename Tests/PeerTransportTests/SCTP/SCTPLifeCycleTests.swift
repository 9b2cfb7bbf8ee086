import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import PeerTransport

@Suite struct SCTPLifeCycleTests {
    @Test("A shutdown delivers everything first, and ends both sides without an error", arguments: 1...6)
    func shutdown(seed: Int) throws {
        var link = SCTPLink(seed: UInt64(seed), conditions: .init(loss: 0.1))
        try link.connect()
        for index in 0..<30 {
            try link.send([UInt8](repeating: UInt8(index), count: 3000), from: 0)
            try link.send([UInt8](repeating: UInt8(index), count: 3000), from: 1)
        }
        link.ends[0].shutdown(at: link.now)
        if seed % 2 == 0 { link.ends[1].shutdown(at: link.now) }
        #expect(throws: IoTError.self) { try link.send([1]) }
        try link.run(for: .seconds(60)) { $0.ended == [true, true] }
        #expect(link.ended == [true, true] && link.errors == [nil, nil])
        #expect(link.messages[1].count == 30 && link.messages[0].count == 30)
        #expect(link.ends.allSatisfy { $0.nextDeadline == nil })
    }

    @Test("An abort ends the peer with channelDisconnected")
    func abort() throws {
        var link = SCTPLink()
        try link.connect()
        link.ends[0].abort(at: link.now)
        try link.run(for: .seconds(1))
        #expect(link.errors == [nil, .channelDisconnected] && link.ended == [true, true])
        #expect(link.ends[0].nextPacket() == nil)
    }

    @Test("A peer that never responds ends the opening with handshakeTimeout")
    func noAnswer() throws {
        var link = SCTPLink(conditions: .init(loss: 1))
        link.ends[0].connect(at: link.now)
        try link.run(for: .seconds(120)) { $0.ended[0] }
        #expect(link.errors[0] == .handshakeTimeout)
    }

    @Test("A dead link ends an association, with data by timer, without by heartbeats", arguments: [true, false])
    func deadLink(hasData: Bool) throws {
        var link = SCTPLink()
        try link.connect()
        link.conditions.loss = 1
        if hasData { try link.send([1, 2, 3]) }
        try link.run(for: .seconds(1000)) { $0.ended[0] }
        #expect(link.errors[0] == .channelDisconnected)
        #expect(link.ends[0].sendCharge == 0)
    }

    @Test("Heartbeats keep an idle association up and measure the round trip")
    func heartbeat() throws {
        var link = SCTPLink()
        try link.connect()
        link.isCapturing = true
        try link.run(for: .seconds(600))
        #expect(link.ended == [false, false])
        #expect((30...90).contains(link.captured.count))
        #expect(link.ends[0].timeout.smoothedRoundTrip == .milliseconds(50))
    }

    @Test("A peer that restarts on the same connection restarts the association; no old data are mixed in")
    func restart() throws {
        var link = SCTPLink(seed: 3)
        try link.connect()
        try link.send([UInt8](repeating: 1, count: 200_000), from: 0, stream: 2)
        try link.send([1], from: 1, stream: 2)
        try link.run(for: .milliseconds(30))
        link.ends[1] = SCTPAssociation(
            configuration: SCTPConfiguration(), generator: SeededGenerator(seed: 77), now: link.now)
        link.messages = [[], []]
        link.ends[1].connect(at: link.now)
        try link.run(for: .seconds(20)) { $0.restarts[0] == 1 && $0.established[1] == 2 }
        #expect(link.restarts == [1, 0] && link.established == [2, 2])
        try link.send([2], from: 0, stream: 2)
        try link.send([3], from: 1, stream: 2)
        try link.run(for: .seconds(10))
        #expect(link.messages[1].map { Array($0.payload.readableBytesView) } == [[2]])
        #expect(link.messages[0].map { Array($0.payload.readableBytesView) } == [[3]])
        #expect(link.ended == [false, false])
    }

    @Test("Late and repeated handshake packets change nothing")
    func replayedHandshake() throws {
        var link = SCTPLink(seed: 4)
        link.isCapturing = true
        try link.connect()
        link.isCapturing = false
        let old = link.captured
        for index in 0..<3 {
            try link.send([UInt8(index)])
            for packet in old { link.transmit(packet.bytes, from: packet.sender) }
            try link.run(for: .seconds(2))
        }
        #expect(link.messages[1].count == 3)
        #expect(link.established == [1, 1] && link.restarts == [0, 0] && link.ended == [false, false])
    }

    @Test("A stale cookie is reported, and the handshake restarts")
    func staleCookie() throws {
        var link = SCTPLink(seed: 4) { $1.cookieLifetime = .seconds(5) }
        var isHeld = true
        var held: [ByteBuffer] = []
        link.tamper = { receiver, packet in
            guard receiver == 1, isHeld, packet.getInteger(at: 12, as: UInt8.self) == SCTPChunkType.cookieEcho else {
                return packet
            }
            held.append(packet)
            return nil
        }
        link.ends[0].connect(at: link.now)
        try link.run(for: .seconds(6))
        isHeld = false
        try link.run(for: .seconds(60)) { $0.established == [1, 1] }
        #expect(link.established == [1, 1] && !held.isEmpty)
    }

    // MARK: Stream reset

    @Test("A reset waits for what was sent, and the stream restarts on both sides", arguments: 1...6)
    func reset(seed: Int) throws {
        var link = SCTPLink(
            seed: UInt64(seed), conditions: .init(loss: 0.15, jitter: .milliseconds(seed % 2 == 0 ? 100 : 0)))
        try link.connect()
        for round in 0..<4 {
            for index in 0..<10 {
                try link.send([UInt8(round), UInt8(index)], stream: 5)
                // Data in another stream make the peer reply "in progress" now and then.
                try link.send([UInt8](repeating: 9, count: 4000), stream: 6)
            }
            link.ends[0].resetStreams([5, 7], at: link.now)
            #expect(throws: IoTError.self) { try link.send([1], stream: 5) }
            try link.run(for: .seconds(120)) { $0.resets[0].outgoing.count == 2 * (round + 1) }
            #expect(link.resets[0].outgoing.suffix(2) == [5, 7] || link.resets[0].outgoing.suffix(2) == [7, 5])
            try link.run(for: .seconds(5))
            #expect(link.resets[1].incoming.count == 2 * (round + 1))
        }
        let expected = (0..<4).flatMap { round in (0..<10).map { [UInt8(round), UInt8($0)] } }
        #expect(link.messages[1].filter { $0.stream == 5 }.map { Array($0.payload.readableBytesView) } == expected)
        #expect(link.ended == [false, false])
    }

    @Test("A peer that does not support resets is not asked for one")
    func resetWithoutSupport() throws {
        var link = SCTPLink()
        try link.connect()
        link.ends[0].remote?.supportsReconfiguration = false
        link.ends[0].resetStreams([1], at: link.now)
        try link.run(for: .seconds(1))
        #expect(link.resets[0].outgoing == [1] && link.resets[1].incoming.isEmpty)
    }

    @Test("A reset with data missing is in progress; the same request is evaluated again when repeated")
    func resetInProgress() throws {
        var link = SCTPLink()
        try link.connect()
        link.isCapturing = true
        let next = UInt32(truncatingIfNeeded: link.ends[0].received.cumulative + 1)
        let request = SCTPReconfiguration.outgoingReset(
            request: link.ends[1].localTSN, response: 0, lastTSN: next, streams: [3])
        let data = SCTPDataChunk(
            flags: [.beginning, .ending], tsn: next, stream: 3, sequence: 0, payloadProtocol: 53,
            payload: ByteBuffer(bytes: [1]))
        for step in 0..<3 {
            var writer = SCTPPacketWriter(SCTPConfiguration(), tag: link.ends[0].localTag)
            if step == 1 { writer.append(data) }
            _ = writer.append(request.write())
            link.ends[0].receive(writer.finish(), at: link.now)
            link.drain(0)
            #expect(link.resets[0].incoming == (step == 0 ? [] : [3]))
        }
        let results = link.capturedChunks(from: 0).flatMap { SCTPReconfiguration.parse($0) }
        let expected = [6, 1, 1].map { SCTPReconfiguration.response(sequence: link.ends[1].localTSN, result: $0) }
        #expect(results == expected)
        #expect(link.messages[0].count == 1)
    }
}
