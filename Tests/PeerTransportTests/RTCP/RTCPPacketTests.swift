import IoTCore
import NIOCore
import Testing

@testable import PeerTransport

@Suite struct RTCPPacketTests {
    static let report = RTCPReceptionReport(
        ssrc: 0x0102_0304, fractionLost: 64, cumulativeLost: -2, highestSequence: 0x0001_FFFF, jitter: 90,
        lastSenderReport: 0xAABB_CCDD, delaySinceLastSenderReport: 65_536)

    /// Each packet beside its bytes, made by hand from the figures of the RFCs.
    static let cases: [(name: String, packet: RTCPPacket, hex: String)] = [
        (
            "RFC 3550 §6.4.1 SR",
            .senderReport(
                RTCPSenderReport(
                    ssrc: 0x1111_1111, ntpTimestamp: 0x8390_3880_8000_0000, rtpTimestamp: 90_000, packetCount: 3,
                    octetCount: 300, reports: [report])),
            """
            81c8000c 11111111 83903880 80000000 00015f90 00000003 0000012c
            01020304 40fffffe 0001ffff 0000005a aabbccdd 00010000
            """
        ),
        (
            "RFC 3550 §6.4.2 RR", .receiverReport(RTCPReceiverReport(ssrc: 7, reports: [])), "80c90001 00000007"
        ),
        (
            "RFC 3550 §6.5 SDES",
            .sourceDescription(RTCPSourceDescription(chunks: [.init(ssrc: 9, canonicalName: "ab")])),
            "81ca0003 00000009 01026162 00000000"
        ),
        (
            "RFC 3550 §6.6 BYE", .goodbye(RTCPGoodbye(ssrcs: [9], reason: "off")), "81cb0002 00000009 036f6666"
        ),
        (
            "RFC 4585 §6.2.1 generic NACK, across a wrap",
            .genericNACK(
                RTCPGenericNACK(senderSSRC: 1, mediaSSRC: 2, lostSequenceNumbers: [65_535, 0, 15, 16, 100])),
            "81cd0005 00000001 00000002 ffff8001 00100000 00640000"
        ),
        (
            "RFC 4585 §6.3.1 PLI",
            .pictureLossIndication(RTCPPictureLossIndication(senderSSRC: 1, mediaSSRC: 2)),
            "81ce0002 00000001 00000002"
        ),
        (
            "RFC 5104 §4.3.1 FIR",
            .fullIntraRequest(RTCPFullIntraRequest(senderSSRC: 1, entries: [.init(ssrc: 2, sequenceNumber: 5)])),
            "84ce0004 00000001 00000000 00000002 05000000"
        ),
        (
            "REMB, which stays as bytes",
            .other(RTCPOtherPacket(packetType: 206, count: 15, body: ByteBuffer(hex: "0000000100000000"))),
            "8fce0002 00000001 00000000"
        ),
    ]

    @Test("Packets are written as the RFCs draw them, and read back", arguments: 0..<cases.count)
    func golden(index: Int) throws {
        let (name, packet, hex) = Self.cases[index]
        var buffer = ByteBuffer()
        packet.write(into: &buffer)
        #expect(buffer == ByteBuffer(hex: hex), "\(name)")
        #expect(try RTCPPacket.parseCompound(buffer) == [packet], "\(name)")
    }

    @Test("A compound packet is read in order, its last packet padded")
    func compound() throws {
        var buffer = ByteBuffer()
        RTCPPacket.write(compound: Self.cases.map(\.packet), into: &buffer)
        buffer.writeBytes(ByteBuffer(hex: "a1ce0003 00000001 00000002 00000004").readableBytesView)
        let packets = try RTCPPacket.parseCompound(buffer)
        #expect(packets.dropLast() == Self.cases.map(\.packet)[...])
        #expect(packets.last == .pictureLossIndication(.init(senderSSRC: 1, mediaSSRC: 2)))
    }

    @Test("RTP and RTCP on one port are told apart by the packet type")
    func demultiplexing() {
        #expect(RTCPPacket.isRTCP(ByteBuffer(hex: "80c80000")))
        #expect(!RTCPPacket.isRTCP(ByteBuffer(hex: "80e00000")))
        #expect(!RTCPPacket.isRTCP(ByteBuffer(hex: "80")))
    }

    @Test(
        "Damaged packets are refused",
        arguments: ["", "80c9", "40c90001 00000007", "80c90002 00000007", "81c90001 00000007", "a0c90001 00000000"])
    func damaged(hex: String) {
        #expect(throws: IoTError.self) { try RTCPPacket.parseCompound(ByteBuffer(hex: hex)) }
    }

    @Test("Packets cut at every length and with flipped bits never trap")
    func neverTraps() {
        var whole = ByteBuffer()
        RTCPPacket.write(compound: Self.cases.map(\.packet), into: &whole)
        for length in 0...whole.readableBytes {
            _ = try? RTCPPacket.parseCompound(whole.getSlice(at: 0, length: length) ?? ByteBuffer())
        }
        for bit in 0..<(whole.readableBytes * 8) {
            var bytes = whole
            bytes.setInteger((bytes.getInteger(at: bit / 8, as: UInt8.self) ?? 0) ^ UInt8(1 << (bit % 8)), at: bit / 8)
            _ = try? RTCPPacket.parseCompound(bytes)
        }
    }

    @Test("NTP time keeps every microsecond")
    func ntp() {
        // RFC 3550 §4: seconds since 1900; 1970 is 2,208,988,800.
        #expect(NTPTime.timestamp(microseconds: 0) == 2_208_988_800 << 32)
        for time: Int64 in [1_763_000_000_123_457, 999_999, 2_085_978_496_000_001, 2_200_000_000_654_321] {
            #expect(NTPTime.microseconds(timestamp: NTPTime.timestamp(microseconds: time)) == time)
        }
    }
}
