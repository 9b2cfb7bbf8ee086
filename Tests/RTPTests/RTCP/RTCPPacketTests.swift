import IoTCore
import NIOCore
import RTPTestSupport
import TestSupport
import Testing

@testable import RTP

@Suite struct RTCPPacketTests {
    static let report = RTCPReceptionReport(
        ssrc: 0x0102_0304, fractionLost: 64, cumulativeLost: -2, highestSequence: 0x0001_FFFF, jitter: 90,
        lastSenderReport: 0xAABB_CCDD, delaySinceLastSenderReport: 65_536)

    /// Packets with their bytes, hand-written from the figures of the RFCs.
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
            "Application layer feedback that is not REMB is kept as bytes",
            .other(RTCPOtherPacket(packetType: 206, count: 15, body: ByteBuffer(hex: "0000000100000000"))),
            "8fce0002 00000001 00000000"
        ),
        (
            // 2,500,000 = 156,250 × 2⁴
            "draft-alvestrand-rmcat-remb-03 §2.2 REMB",
            .receiverEstimate(RTCPReceiverEstimate(senderSSRC: 1, bitrate: 2_500_000, ssrcs: [2, 3])),
            "8fce0006 00000001 00000000 52454d42 0212625a 00000002 00000003"
        ),
        (
            // Runs of 20 small deltas and 15 missing, then single bits: 1 0 1.
            "draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1, runs and one-bit symbols",
            .transportWideFeedback(
                RTCPTransportWideFeedback(
                    senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: 65_530, referenceTime: -2, feedbackCount: 7,
                    statuses: Array(repeating: .received(delta: 4), count: 20)
                        + Array(repeating: .missing, count: 15)
                        + [.received(delta: 0), .missing, .received(delta: 255)])),
            """
            8fcd000b 00000001 00000002 fffa0026 fffffe07 2014000f a8000404 04040404 04040404 04040404 04040404
            040400ff
            """
        ),
        (
            // Two-bit symbols: small, large, missing, large.
            "draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1, two-bit symbols",
            .transportWideFeedback(
                RTCPTransportWideFeedback(
                    senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: 5, referenceTime: 0x12_3456, feedbackCount: 0,
                    statuses: [
                        .received(delta: 1), .received(delta: -1), .missing, .received(delta: 256),
                    ])),
            "8fcd0006 00000001 00000002 00050004 12345600 d88001ff ff010000"
        ),
    ]

    @Test("Packets are written in the format of the RFCs and parsed back", arguments: 0..<cases.count)
    func golden(index: Int) throws {
        let (name, packet, hex) = Self.cases[index]
        var buffer = ByteBuffer()
        packet.write(into: &buffer)
        #expect(buffer == ByteBuffer(hex: hex), "\(name)")
        #expect(try RTCPPacket.parseCompound(buffer) == [packet], "\(name)")
    }

    @Test("A compound packet with a padded last packet is parsed in order")
    func compound() throws {
        var buffer = ByteBuffer()
        RTCPPacket.write(compound: Self.cases.map(\.packet), into: &buffer)
        buffer.writeBytes(ByteBuffer(hex: "a1ce0003 00000001 00000002 00000004").readableBytesView)
        let packets = try RTCPPacket.parseCompound(buffer)
        #expect(packets.dropLast() == Self.cases.map(\.packet)[...])
        #expect(packets.last == .pictureLossIndication(.init(senderSSRC: 1, mediaSSRC: 2)))
    }

    @Test("RTP and RTCP on one port are distinguished by the packet type")
    func demultiplexing() {
        #expect(RTCPPacket.isRTCP(ByteBuffer(hex: "80c80000")))
        #expect(!RTCPPacket.isRTCP(ByteBuffer(hex: "80e00000")))
        #expect(!RTCPPacket.isRTCP(ByteBuffer(hex: "80")))
    }

    @Test(
        "Malformed packets are rejected",
        arguments: ["", "80c9", "40c90001 00000007", "80c90002 00000007", "81c90001 00000007", "a0c90001 00000000"])
    func damaged(hex: String) {
        #expect(throws: IoTError.self) { try RTCPPacket.parseCompound(ByteBuffer(hex: hex)) }
    }

    @Test("Packets truncated at any length or with flipped bits never trap")
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

    static func random(using random: inout SeededGenerator) -> RTCPPacket {
        func number() -> UInt32 { .random(in: 0 ... .max, using: &random) }
        func text() -> String { String(repeating: "x", count: Int.random(in: 1...40, using: &random)) }
        let reports = (0..<Int.random(in: 0...31, using: &random)).map { _ in
            RTCPReceptionReport(
                ssrc: number(), fractionLost: UInt8(number() & 0xFF),
                cumulativeLost: .random(in: -0x80_0000...0x7F_FFFF, using: &random), highestSequence: number(),
                jitter: number(), lastSenderReport: number(), delaySinceLastSenderReport: number())
        }
        switch Int.random(in: 0..<9, using: &random) {
        case 0:
            return .senderReport(
                RTCPSenderReport(
                    ssrc: number(), ntpTimestamp: .random(in: 0 ... .max, using: &random), rtpTimestamp: number(),
                    packetCount: number(), octetCount: number(), reports: reports))
        case 1: return .receiverReport(RTCPReceiverReport(ssrc: number(), reports: reports))
        case 2:
            return .sourceDescription(
                RTCPSourceDescription(chunks: reports.map { .init(ssrc: $0.ssrc, canonicalName: text()) }))
        case 3: return .goodbye(RTCPGoodbye(ssrcs: reports.map(\.ssrc), reason: text()))
        case 4:
            var next = UInt16.random(in: 0 ... .max, using: &random)
            let lost = (0..<Int.random(in: 1...80, using: &random)).map { _ in
                next &+= UInt16.random(in: 1...30, using: &random)
                return next
            }
            return .genericNACK(
                RTCPGenericNACK(senderSSRC: number(), mediaSSRC: number(), lostSequenceNumbers: lost))
        case 5: return .pictureLossIndication(.init(senderSSRC: number(), mediaSSRC: number()))
        case 6:
            return .fullIntraRequest(
                .init(
                    senderSSRC: number(),
                    entries: reports.map { .init(ssrc: $0.ssrc, sequenceNumber: $0.fractionLost) }))
        case 7:
            let bitrate = UInt64(number() & 0x3FFFF) << UInt64.random(in: 0...46, using: &random)
            return .receiverEstimate(
                RTCPReceiverEstimate(senderSSRC: number(), bitrate: bitrate, ssrcs: reports.map(\.ssrc)))
        default:
            var statuses: [RTCPTransportWideFeedback.Status] = []
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                let status: RTCPTransportWideFeedback.Status
                switch Int.random(in: 0..<3, using: &random) {
                case 0: status = .missing
                case 1: status = .received(delta: .random(in: 0...255, using: &random))
                default: status = .received(delta: .random(in: .min ... .max, using: &random))
                }
                let longest = Bool.random(using: &random) ? 40 : 2
                statuses += Array(repeating: status, count: Int.random(in: 1...longest, using: &random))
            }
            return .transportWideFeedback(
                RTCPTransportWideFeedback(
                    senderSSRC: number(), mediaSSRC: number(),
                    baseSequenceNumber: .random(in: 0 ... .max, using: &random),
                    referenceTime: .random(in: -0x80_0000...0x7F_FFFF, using: &random),
                    feedbackCount: .random(in: 0 ... .max, using: &random), statuses: statuses))
        }
    }

    @Test(
        "Written packets are parsed back unchanged; damaged packets are rejected, or can be written and parsed again",
        arguments: 1...8)
    func property(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<400 {
            let packets = (0..<Int.random(in: 1...3, using: &random)).map { _ in Self.random(using: &random) }
            var buffer = ByteBuffer()
            RTCPPacket.write(compound: packets, into: &buffer)
            #expect(try RTCPPacket.parseCompound(buffer) == packets)
            for _ in 0..<5 {
                var damaged = buffer
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    damaged.setInteger(
                        UInt8.random(in: 0...255, using: &random),
                        at: Int.random(in: 0..<damaged.readableBytes, using: &random))
                }
                guard let read = try? RTCPPacket.parseCompound(damaged) else { continue }
                var again = ByteBuffer()
                RTCPPacket.write(compound: read, into: &again)
                // A packet that was written once is written the same again.
                guard let second = try? RTCPPacket.parseCompound(again) else {
                    Issue.record("a parsed packet cannot be parsed again: \(read)")
                    continue
                }
                var third = ByteBuffer()
                RTCPPacket.write(compound: second, into: &third)
                #expect(third == again)
            }
        }
    }

    @Test("NTP time preserves microseconds")
    func ntp() {
        // RFC 3550 §4: seconds since 1900; 1970 is 2,208,988,800.
        #expect(NTPTime.timestamp(microseconds: 0) == 2_208_988_800 << 32)
        for time: Int64 in [1_763_000_000_123_457, 999_999, 2_085_978_496_000_001, 2_200_000_000_654_321] {
            #expect(NTPTime.microseconds(timestamp: NTPTime.timestamp(microseconds: time)) == time)
        }
    }
}
