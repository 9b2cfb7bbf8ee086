import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import PeerTransport

/// Input from a malicious peer. It has passed DTLS, so it knows the tags.
@Suite struct SCTPHostileInputTests {
    private func check(_ link: SCTPLink, _ index: Int = 0) {
        let end = link.ends[index]
        #expect(end.reassembly.heldByteCount >= 0)
        #expect(end.reassembly.heldByteCount <= 2 * end.configuration.receiveWindow + 2048)
        #expect(end.received.runs.count <= end.configuration.maximumGapBlocks)
        #expect(end.control.count <= SCTPAssociation.maximumControlChunks)
        #expect(end.packets.count <= SCTPAssociation.maximumControlChunks)
        #expect(end.flight.byteCount >= 0 && end.flight.lostCount >= 0 && end.sendCharge >= 0)
    }

    private func packet(_ chunks: [ByteBuffer], to end: SCTPAssociation, tag: UInt32? = nil) -> ByteBuffer {
        var writer = SCTPPacketWriter(end.configuration, tag: tag ?? end.localTag)
        for chunk in chunks { _ = writer.append(chunk) }
        return writer.finish()
    }

    private func data(
        _ flags: SCTPDataChunk.Flags, tsn: Int64, stream: UInt16 = 0, sequence: UInt16 = 0, count: Int = 10
    ) -> SCTPDataChunk {
        SCTPDataChunk(
            flags: flags, tsn: UInt32(truncatingIfNeeded: tsn), stream: stream, sequence: sequence,
            payloadProtocol: 53, payload: ByteBuffer(repeating: 5, count: count))
    }

    private func packet(_ chunk: SCTPDataChunk, to end: SCTPAssociation) -> ByteBuffer {
        var writer = SCTPPacketWriter(end.configuration, tag: end.localTag)
        writer.append(chunk)
        return writer.finish()
    }

    @Test("Random bytes change nothing")
    func randomBytes() throws {
        var link = SCTPLink()
        try link.connect()
        var random = SeededGenerator(seed: 1)
        for _ in 0..<5000 {
            let bytes = random.bytes(Int.random(in: 0...200, using: &random))
            link.ends[0].receive(ByteBuffer(bytes: bytes), at: link.now)
        }
        #expect(link.ends[0].counters.packetsInvalid == 5000)
        try link.send([1], from: 1)
        try link.run(for: .seconds(1))
        #expect(link.messages[0].count == 1)
    }

    @Test("Random chunks with the right tag leave the association up or end it, within its limits", arguments: 1...30)
    func randomChunks(seed: Int) throws {
        var link = SCTPLink(seed: UInt64(seed))
        try link.connect()
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<10 { try link.send(random.bytes(3000)) }
        link.drain(0)
        let types: [UInt8] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 14, 64, 130, 192, 193, 255]
        for step in 0..<300 {
            var chunks: [ByteBuffer] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let type = types[Int.random(in: 0..<types.count, using: &random)]
                let flags = UInt8.random(in: 0...15, using: &random)
                var body = random.bytes(Int.random(in: 0...60, using: &random))
                // Near the numbers in use.
                if Bool.random(using: &random), body.count >= 4 {
                    let base =
                        type == 3 || type == 7 ? link.ends[0].flight.cumulative : link.ends[0].received.cumulative
                    let near = UInt32(truncatingIfNeeded: base + Int64.random(in: -2...20, using: &random))
                    withUnsafeBytes(of: near.bigEndian) { body.replaceSubrange(0..<4, with: $0) }
                }
                chunks.append(SCTPChunkWriter.chunk(type, flags: flags) { $0.writeBytes(body) })
            }
            let tag: UInt32? = Int.random(in: 0..<10, using: &random) == 0 ? 0 : nil
            link.ends[0].receive(packet(chunks, to: link.ends[0], tag: tag), at: link.now)
            check(link)
            if step % 10 == 0 { try link.run(for: .milliseconds(100)) }
            if link.ended[0] { break }
        }
        if link.ended[0] {
            #expect(link.ends[0].nextDeadline == nil && link.ends[0].sendCharge == 0)
        }
    }

    @Test("Modified real packets leave the association up or end it, within its limits", arguments: 1...30)
    func mutatedPackets(seed: Int) throws {
        var link = SCTPLink(seed: UInt64(seed), conditions: .init(loss: 0.05))
        var random = SeededGenerator(seed: UInt64(seed))
        var count = 0
        link.tamper = { receiver, packet in
            guard receiver == 0, Int.random(in: 0..<4, using: &random) == 0 else { return packet }
            count += 1
            var packet = packet
            for _ in 0..<Int.random(in: 1...3, using: &random) where packet.readableBytes > 12 {
                let end = min(packet.readableBytes, 60)
                let place = Int.random(in: 12..<end, using: &random)
                packet.setInteger(UInt8.random(in: .min ... .max, using: &random), at: place)
            }
            if Int.random(in: 0..<5, using: &random) == 0 {
                packet = packet.getSlice(at: 0, length: Int.random(in: 12...packet.readableBytes, using: &random))!
            }
            let sum = packet.withUnsafeReadableBytes { CRC32C.checksum(ofPacket: $0) }
            packet.setInteger(sum, at: 8, endianness: .little)
            return packet
        }
        for index in 0...1 { link.ends[index].connect(at: link.now) }
        for step in 0..<100 {
            if step % 3 == 0 {
                for side in 0...1 {
                    try? link.send(random.bytes(5000), from: side, stream: UInt16(step % 7), isUnordered: step % 2 == 0)
                    try? link.send(random.bytes(500), from: side, stream: 9, reliability: .retransmissions(0))
                }
            }
            if step % 20 == 19 { link.ends[0].resetStreams([9], at: link.now) }
            try link.run(for: .milliseconds(100))
            check(link, 0)
            check(link, 1)
        }
        #expect(count > 0)
        for index in 0...1 where link.ended[index] { #expect(link.ends[index].nextDeadline == nil) }
    }

    @Test("Fragments that never become messages are held up to a limit; then the association ends with peerFailed")
    func endlessPieces() throws {
        var link = SCTPLink()
        try link.connect()
        // Consecutive numbers, each the start of another message.
        var tsn = link.ends[0].received.cumulative + 1
        for _ in 0..<20_000 where !link.ended[0] {
            link.ends[0].receive(packet(data(.beginning, tsn: tsn, count: 1000), to: link.ends[0]), at: link.now)
            tsn += 1
            check(link)
            link.drain(0)
        }
        #expect(link.errors[0] == .peerFailed)
    }

    @Test("Complete messages after one that never arrives are also held up to a limit")
    func endlessEarlyMessages() throws {
        var link = SCTPLink()
        try link.connect()
        var tsn = link.ends[0].received.cumulative + 1
        var sequence: UInt16 = 1
        for _ in 0..<20_000 where !link.ended[0] {
            let chunk = data([.beginning, .ending], tsn: tsn, sequence: sequence, count: 1)
            link.ends[0].receive(packet(chunk, to: link.ends[0]), at: link.now)
            tsn += 1
            sequence &+= 1
            check(link)
            link.drain(0)
        }
        #expect(link.errors[0] == .peerFailed)
    }

    @Test("Data after gaps are accepted up to the window, the distance and the number of gaps")
    func holes() throws {
        var link = SCTPLink()
        try link.connect()
        let first = link.ends[0].received.cumulative + 2
        for index in 0..<300 as Range<Int64> {
            let chunk = data([.beginning, .ending, .unordered], tsn: first + index * 2, count: 1)
            link.ends[0].receive(packet(chunk, to: link.ends[0]), at: link.now)
            link.drain(0)
        }
        check(link)
        #expect(link.ends[0].counters.chunksRefused == 44)
        let far = data([.beginning, .ending], tsn: link.ends[0].received.cumulative + 8193)
        link.ends[0].receive(packet(far, to: link.ends[0]), at: link.now)
        #expect(link.ends[0].counters.chunksRefused == 45)
        #expect(link.ends[0].received.runs.count == link.ends[0].configuration.maximumGapBlocks)
        #expect(!link.ended[0])
        // With fragments, the window is the limit.
        var other = SCTPLink(seed: 2)
        try other.connect()
        let start = other.ends[0].received.cumulative + 2
        for index in 0..<3000 as Range<Int64> {
            other.ends[0].receive(packet(data([], tsn: start + index, count: 1000), to: other.ends[0]), at: other.now)
            other.drain(0)
            if other.ended[0] { break }
        }
        check(other)
        #expect(other.ends[0].reassembly.heldByteCount <= other.ends[0].configuration.receiveWindow || other.ended[0])
    }

    @Test("A violation by the peer ends the association with peerFailed")
    func violations() throws {
        for kind in 0..<4 {
            var link = SCTPLink()
            try link.connect()
            try link.send([1])
            link.drain(0)
            let next = link.ends[0].received.cumulative + 1
            let end = link.ends[0]
            let packets: [ByteBuffer] =
                switch kind {
                case 0: [packet(data([.beginning, .ending], tsn: next, count: 0), to: end)]
                case 1:
                    [
                        packet(data(.beginning, tsn: next, stream: 1), to: end),
                        packet(data(.ending, tsn: next + 1, stream: 2), to: end),
                    ]
                case 2:
                    [
                        packet(data(.ending, tsn: next + 1, stream: 1), to: end),
                        packet(data(.ending, tsn: next + 2, stream: 1), to: end),
                    ]
                default:
                    [
                        packet(
                            [
                                SCTPAcknowledgement(
                                    cumulativeTSN: UInt32(truncatingIfNeeded: end.flight.lastTSN + 5), window: 1
                                ).write()
                            ], to: end)
                    ]
                }
            for packet in packets { link.ends[0].receive(packet, at: link.now) }
            link.drain(0)
            #expect(link.errors[0] == .peerFailed, "\(kind)")
            try link.run(for: .seconds(1))
            #expect(link.errors[1] == .channelDisconnected, "\(kind)")
        }
    }

    @Test("An unknown stream is reported and skipped; so are unknown chunks that ask to be reported")
    func unknown() throws {
        var link = SCTPLink()
        try link.connect()
        let next = link.ends[0].received.cumulative + 1
        link.isCapturing = true
        link.ends[0].receive(
            packet(data([.beginning, .ending], tsn: next, stream: 1024), to: link.ends[0]), at: link.now)
        let strange = [0xC1, 0x41].map { SCTPChunkWriter.chunk($0) { $0.writeString("abc") } }
        link.ends[0].receive(packet(strange, to: link.ends[0]), at: link.now)
        link.drain(0)
        let sent = try link.captured.flatMap { entry in
            var packet = try #require(SCTPPacket(parsing: entry.bytes))
            var chunks: [SCTPRawChunk] = []
            while let chunk = packet.nextChunk() { chunks.append(chunk) }
            return chunks
        }
        let causes = sent.filter { $0.type == SCTPChunkType.error }.flatMap { SCTPParameters($0.value).map(\.type) }
        #expect(
            causes == [
                SCTPErrorCause.invalidStream, SCTPErrorCause.unrecognisedChunk, SCTPErrorCause.unrecognisedChunk,
            ])
        #expect(link.ends[0].received.cumulative == next && link.messages[0].isEmpty && !link.ended[0])
    }

    @Test("A flood of INIT, heartbeats and gap blocks leaves no state")
    func floods() throws {
        var link = SCTPLink()
        try link.connect()
        try link.send([UInt8](repeating: 1, count: 30_000))
        link.drain(0)
        let cumulative = UInt32(truncatingIfNeeded: link.ends[0].flight.cumulative)
        let initiation = SCTPInitiation(tag: 9, window: 9, outgoingStreams: 9, incomingStreams: 9, tsn: 9)
        let beat = SCTPChunkWriter.chunk(SCTPChunkType.heartbeat) { $0.writeRepeatingByte(0, count: 1000) }
        var sack = SCTPAcknowledgement(cumulativeTSN: cumulative, window: 0)
        for index in 0..<270 as Range<UInt16> { sack.gaps.append(.init(start: 2 + index % 7, end: 65_535)) }
        for _ in 0..<300 {
            link.ends[0].receive(
                packet([initiation.write(type: SCTPChunkType.initiation)], to: link.ends[0], tag: 0), at: link.now)
            link.ends[0].receive(packet([beat], to: link.ends[0]), at: link.now)
            link.ends[0].receive(packet([sack.write()], to: link.ends[0]), at: link.now)
            check(link)
        }
        #expect(!link.ended[0])
        link.drain(0)
        try link.run(for: .seconds(30))
        #expect(link.messages[1].count == 1)
    }

    @Test("FORWARD TSN far ahead loses only what it skips")
    func forwardFarAhead() throws {
        var link = SCTPLink()
        try link.connect()
        let point = UInt32(truncatingIfNeeded: link.ends[0].received.cumulative + (1 << 31) - 1)
        let forward = SCTPForwardTSN(
            newCumulativeTSN: point,
            streams: (0..<250).map { .init(stream: UInt16($0) * 200, sequence: UInt16.max - UInt16($0)) })
        for _ in 0..<5 { link.ends[0].receive(packet([forward.write()], to: link.ends[0]), at: link.now) }
        link.drain(0)
        check(link)
        #expect(!link.ended[0])
        let next = link.ends[0].received.cumulative + 1
        link.ends[0].receive(
            packet(data([.beginning, .ending, .unordered], tsn: next), to: link.ends[0]), at: link.now)
        link.drain(0)
        #expect(link.messages[0].count == 1)
    }
}
