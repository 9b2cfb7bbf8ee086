import NIOCore
import RTPTestSupport
import Testing

@testable import PeerTransport

/// The expected packets are aiortc 1.16.0's for the same chunks (`rtcsctptransport.py`, `serialize_packet`).
@Suite struct SCTPPacketTests {
    private func packet(_ chunk: ByteBuffer, tag: UInt32 = 0x1122_3344) -> ByteBuffer {
        var writer = SCTPPacketWriter(SCTPConfiguration(), tag: tag)
        let fits = writer.append(chunk)
        #expect(fits)
        return writer.finish()
    }

    private func chunk(_ hex: String) throws -> SCTPRawChunk {
        var packet = try #require(SCTPPacket(parsing: ByteBuffer(hex: hex)))
        #expect(packet.sourcePort == 5000 && packet.destinationPort == 5000)
        let chunk = packet.nextChunk()
        let more = packet.nextChunk()
        #expect(more?.type == nil)
        return try #require(chunk)
    }

    @Test("INIT and INIT ACK match")
    func initiation() throws {
        let theirs =
            "13881388000000004849bb770100001edeadbeef0010000004000400fffffff0c00000048008000682c00000"
        let read = try #require(SCTPInitiation(try chunk(theirs)))
        let initiation = SCTPInitiation(
            tag: 0xDEAD_BEEF, window: 1 << 20, outgoingStreams: 1024, incomingStreams: 1024, tsn: 0xFFFF_FFF0)
        #expect(read == initiation)
        #expect(packet(initiation.write(type: SCTPChunkType.initiation), tag: 0) == ByteBuffer(hex: theirs))

        let answer =
            "1388138811223344f2c7c48a0200002a0000000700020000ffffffff00000001c000000480080006c08200000007000a"
            + "636f6f6b69650000"
        let readAnswer = try #require(SCTPInitiation(try chunk(answer)))
        #expect(readAnswer.cookie == ByteBuffer(string: "cookie"))
        #expect(readAnswer.tag == 7 && readAnswer.incomingStreams == 65_535 && readAnswer.tsn == 1)
        #expect(readAnswer.supportsForwardTSN && readAnswer.supportsReconfiguration)
    }

    @Test("DATA matches")
    func data() throws {
        let hex = "1388138811223344dbd3417f0007001501020304000500060000003568656c6c6f000000"
        let expected = SCTPDataChunk(
            flags: [.unordered, .beginning, .ending], tsn: 0x0102_0304, stream: 5, sequence: 6, payloadProtocol: 53,
            payload: ByteBuffer(string: "hello"))
        #expect(SCTPDataChunk(try chunk(hex)) == expected)
        var writer = SCTPPacketWriter(SCTPConfiguration(), tag: 0x1122_3344)
        writer.append(expected)
        #expect(writer.finish() == ByteBuffer(hex: hex))
    }

    @Test("SACK, FORWARD TSN and RE-CONFIG match")
    func control() throws {
        let sack = SCTPAcknowledgement(
            cumulativeTSN: 0x10, window: 100_000, gaps: [.init(start: 2, end: 3), .init(start: 5, end: 5)],
            duplicates: [9])
        let sackHex = "138813881122334415db839d0300001c00000010000186a000020001000200030005000500000009"
        #expect(SCTPAcknowledgement(try chunk(sackHex)) == sack)
        #expect(packet(sack.write()) == ByteBuffer(hex: sackHex))

        let forward = SCTPForwardTSN(
            newCumulativeTSN: 0x20, streams: [.init(stream: 1, sequence: 2), .init(stream: 3, sequence: 4)])
        let forwardHex = "1388138811223344556f0575c0000010000000200001000200030004"
        #expect(SCTPForwardTSN(try chunk(forwardHex)) == forward)
        #expect(packet(forward.write()) == ByteBuffer(hex: forwardHex))

        let reset = SCTPReconfiguration.outgoingReset(request: 1, response: 2, lastTSN: 3, streams: [4, 6, 8])
        let resetHex = "1388138811223344d1ca05c48200001a000d00160000000100000002000000030004000600080000"
        #expect(SCTPReconfiguration.parse(try chunk(resetHex)) == [reset])
        let response = SCTPReconfiguration.response(sequence: 1, result: 1)
        let responseHex = "13881388112233448442bde2820000100010000c0000000100000001"
        #expect(SCTPReconfiguration.parse(try chunk(responseHex)) == [response])
        #expect(packet(response.write()) == ByteBuffer(hex: responseHex))
    }

    @Test("All other chunks match")
    func others() throws {
        for (hex, ours) in [
            (
                "13881388112233448d524898040000100001000c3132333435363738",
                SCTPChunkWriter.chunk(SCTPChunkType.heartbeat) {
                    SCTPChunkWriter.parameter(SCTPParameterType.heartbeatInformation, in: &$0) {
                        $0.writeString("12345678")
                    }
                }
            ),
            ("1388138811223344799a8d860700000800000005", SCTPChunkWriter.chunk(7) { $0.writeInteger(UInt32(5)) }),
            (
                "138813881122334443b8cdf40a00000a636f6f6b69650000",
                SCTPChunkWriter.chunk(10) { $0.writeString("cookie") }
            ),
            ("138813881122334477cda9450b000004", SCTPChunkWriter.chunk(SCTPChunkType.cookieAcknowledgement)),
            ("13881388112233444e448b2708000004", SCTPChunkWriter.chunk(SCTPChunkType.shutdownAcknowledgement)),
            ("13881388112233443c56cee30e000004", SCTPChunkWriter.chunk(SCTPChunkType.shutdownComplete)),
        ] {
            #expect(packet(ours) == ByteBuffer(hex: hex))
            #expect(try chunk(hex).type == ours.getInteger(at: 0, as: UInt8.self))
        }
        let abort = try chunk("1388138811223344cc2360830600000b000c000762796500")
        #expect(SCTPParameters(abort.value).map(\.type) == [SCTPErrorCause.userAbort])
    }

    @Test("Malformed packets and chunks are refused")
    func damaged() throws {
        let good = ByteBuffer(hex: "1388138811223344dbd3417f0007001501020304000500060000003568656c6c6f000000")
        for length in 0..<good.readableBytes {
            let cut = try #require(good.getSlice(at: 0, length: length))
            #expect(SCTPPacket(parsing: cut) == nil)
        }
        for index in 0..<good.readableBytes {
            var flipped = good
            flipped.setInteger(good.getInteger(at: index, as: UInt8.self)! ^ 0x10, at: index)
            #expect(SCTPPacket(parsing: flipped) == nil)
        }
        // Lengths below the header size and beyond the end.
        for length in [0, 3, 22, 65_535] as [UInt16] {
            var wrong = good
            wrong.setInteger(length, at: 14)
            let sum = wrong.withUnsafeReadableBytes { CRC32C.checksum(ofPacket: $0) }
            wrong.setInteger(sum, at: 8, endianness: .little)
            var packet = try #require(SCTPPacket(parsing: wrong))
            let chunk = packet.nextChunk()
            #expect((chunk != nil) == (length == 22))
        }
    }

    @Test("Unknown parameters of INIT that ask to be reported are reported, up to a limit")
    func unknownParameters() throws {
        let chunk = SCTPChunkWriter.chunk(SCTPChunkType.initiation) { buffer in
            buffer.writeMultipleIntegers(UInt32(1), UInt32(2), UInt16(3), UInt16(4), UInt32(5))
            SCTPChunkWriter.parameter(0x8011, in: &buffer)
            for _ in 0..<20 { SCTPChunkWriter.parameter(0xC011, in: &buffer) { $0.writeString("abc") } }
            SCTPChunkWriter.parameter(SCTPParameterType.forwardTSNSupported, in: &buffer)
            SCTPChunkWriter.parameter(0x4011, in: &buffer)
            SCTPChunkWriter.parameter(SCTPParameterType.supportedExtensions, in: &buffer) {
                $0.writeInteger(UInt8(130))
            }
        }
        var whole = chunk
        let length = whole.getInteger(at: 2, as: UInt16.self) ?? 0
        whole.moveReaderIndex(forwardBy: 4)
        let rest = whole.readSlice(length: Int(length) - 4)
        let value = try #require(rest)
        let read = try #require(SCTPInitiation(SCTPRawChunk(type: 1, flags: 0, value: value)))
        #expect(read.unrecognised.count == 8)
        #expect(read.supportsForwardTSN)
        // The parameter before it stops the parsing.
        #expect(!read.supportsReconfiguration)
    }

    @Test("A cookie opens only with its key, and not after a change of a bit")
    func cookie() throws {
        let key = [UInt8](repeating: 3, count: 32)
        let cookie = StateCookie(
            localTag: 1, localTSN: 2, peerTag: 3, peerTSN: 4, peerWindow: 5, peerOutgoingStreams: 6,
            peerIncomingStreams: 7, peerSupportsForwardTSN: true, peerSupportsReconfiguration: false, tieTagLocal: 8,
            tieTagPeer: 9, createdAt: .uptimeNanoseconds(10))
        let sealed = cookie.seal(key: key)
        #expect(sealed.readableBytes == StateCookie.byteCount)
        #expect(StateCookie(opening: sealed, key: key) == cookie)
        #expect(StateCookie(opening: sealed, key: [UInt8](repeating: 4, count: 32)) == nil)
        for index in 0..<sealed.readableBytes {
            var wrong = sealed
            wrong.setInteger(sealed.getInteger(at: index, as: UInt8.self)! ^ 1, at: index)
            #expect(StateCookie(opening: wrong, key: key) == nil)
        }
    }
}
