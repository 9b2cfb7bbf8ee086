import IoTCore
import NIOCore
import RTP
import RTPTestSupport
import TestSupport
import Testing

@testable import PeerTransport

@Suite struct SRTPSessionTests {
    private func bytes(_ hex: String) -> [UInt8] { Array(ByteBuffer(hex: hex).readableBytesView) }

    private func material(_ profile: SRTPProfile, seed: UInt64 = 1) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        return random.bytes(profile.keyingMaterialLength)
    }

    private func pair(_ profile: SRTPProfile) throws -> (client: SRTPSession, server: SRTPSession) {
        let material = material(profile)
        return (
            try SRTPSession(profile: profile, keyingMaterial: material, isDTLSClient: true),
            try SRTPSession(profile: profile, keyingMaterial: material, isDTLSClient: false)
        )
    }

    private func packet(_ sequence: UInt16, size: Int = 100, ssrc: UInt32 = 0x5501_A0B2) -> ByteBuffer {
        var random = SeededGenerator(seed: UInt64(sequence))
        var buffer = ByteBuffer()
        RTPPacket(
            payloadType: 96, marker: false, sequenceNumber: sequence, timestamp: 7, ssrc: ssrc,
            payload: ByteBuffer(bytes: random.bytes(size))
        ).write(into: &buffer)
        return buffer
    }

    @Test("libsrtp's AES-CM vector matches; its master key is from RFC 3711 §B.3")
    func counterModeVector() throws {
        let key = bytes("e1f97a0d3e018be0d64fa32c06de4139")
        let salt = bytes("0ec675ad498afeebb6960b3aabe6")
        let session = try SRTPSession(
            profile: .aes128CMHMACSHA1_80, keyingMaterial: key + key + salt + salt, isDTLSClient: true)
        var packet = ByteBuffer(hex: "800f1234 decafbad cafebabe abababab abababab abababab abababab")
        #expect(session.protectRTP(&packet) == .success)
        #expect(
            packet.hex == "800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb")
        #expect(session.unprotectRTP(&packet) == .success)
        #expect(packet.hex == "800f1234decafbadcafebabeabababababababababababababababab")

        var control = ByteBuffer(hex: "81c8000b cafebabe abababab abababab abababab abababab")
        #expect(session.protectRTCP(&control) == .success)
        #expect(
            control.hex == "81c8000bcafebabe7128035be487b9bdbef89041f977a5a880000001993e08cd54d6c1230798")
    }

    @Test("libsrtp's AES-GCM vector matches")
    func gcmVector() throws {
        let key = bytes("000102030405060708090a0b0c0d0e0f")
        let salt = bytes("a0a1a2a3a4a5a6a7a8a9aaab")
        let session = try SRTPSession(
            profile: .aeadAES128GCM, keyingMaterial: key + key + salt + salt, isDTLSClient: true)
        var packet = ByteBuffer(hex: "800f1234 decafbad cafebabe abababab abababab abababab abababab")
        #expect(session.protectRTP(&packet) == .success)
        #expect(
            packet.hex == "800f1234decafbadcafebabec5002ede04cfdd2eb91159e0880aa06ed2976826f796b201df3131a127e8a392")
    }

    @Test(
        "Packets match the RFCs' formulas byte for byte, also after a wrap", arguments: SRTPProfile.allCases)
    func reference(profile: SRTPProfile) throws {
        let material = material(profile)
        let session = try SRTPSession(profile: profile, keyingMaterial: material, isDTLSClient: true)
        let masterKey = Array(material[..<profile.masterKeyLength])
        let salt = Array(material[(2 * profile.masterKeyLength)...].prefix(profile.masterSaltLength))
        let reference = ReferenceSRTP.keys(masterKey: masterKey, masterSalt: salt, firstLabel: 0)
        let isCounterMode = profile == .aes128CMHMACSHA1_80
        for step in 0..<6 {
            let plain = packet(UInt16(truncatingIfNeeded: 65_533 + step), size: 1 + step * 200)
            let rollover: UInt32 = step < 3 ? 0 : 1
            var packet = plain
            #expect(session.protectRTP(&packet) == .success)
            let bytes = Array(plain.readableBytesView)
            let expected =
                isCounterMode
                ? reference.protectCounterMode(bytes, rollover: rollover)
                : reference.protectGCM(bytes, rollover: rollover)
            #expect(Array(packet.readableBytesView) == expected)
        }
        let control = ReferenceSRTP.keys(masterKey: masterKey, masterSalt: salt, firstLabel: 3)
        for index in 1...3 as ClosedRange<UInt32> {
            var report = ByteBuffer(hex: "81c80001 4d617273 4e545031 4e545032")
            let plain = Array(report.readableBytesView)
            #expect(session.protectRTCP(&report) == .success)
            #expect(
                Array(report.readableBytesView)
                    == (isCounterMode
                        ? control.protectControlCounterMode(plain, index: index)
                        : control.protectControlGCM(plain, index: index)))
        }
    }

    @Test("Each side can read what the other protects, RTP and RTCP", arguments: SRTPProfile.allCases)
    func bothWays(profile: SRTPProfile) throws {
        let (client, server) = try pair(profile)
        for (from, to) in [(client, server), (server, client)] {
            let plain = packet(9)
            var packet = plain
            #expect(from.protectRTP(&packet) == .success)
            #expect(packet.readableBytes == plain.readableBytes + profile.rtpOverhead)
            #expect(to.unprotectRTP(&packet) == .success)
            #expect(packet == plain)

            let report = ByteBuffer(hex: "80c90001 00000007")
            var control = report
            #expect(from.protectRTCP(&control) == .success)
            #expect(control.readableBytes == report.readableBytes + profile.rtcpOverhead)
            #expect(to.unprotectRTCP(&control) == .success)
            #expect(control == report)
        }
    }

    @Test("A packet in the middle of a shared buffer is changed without its surroundings")
    func sharedBuffer() throws {
        let (client, server) = try pair(.aeadAES128GCM)
        var buffer = ByteBuffer(bytes: [1, 2, 3, 4])
        buffer.writeImmutableBuffer(packet(1))
        let copy = buffer
        buffer.moveReaderIndex(to: 4)
        #expect(client.protectRTP(&buffer) == .success)
        #expect(copy.getSlice(at: 4, length: copy.readableBytes - 4) == packet(1))
        #expect(server.unprotectRTP(&buffer) == .success)
        #expect(buffer == packet(1))
        buffer.moveReaderIndex(to: 0)
        #expect(buffer.getInteger(at: 0, as: UInt32.self) == 0x0102_0304)
    }

    @Test("Corrupt, foreign and repeated packets are refused and counted", arguments: SRTPProfile.allCases)
    func refusals(profile: SRTPProfile) throws {
        let (client, server) = try pair(profile)
        var sent = packet(5)
        #expect(client.protectRTP(&sent) == .success)
        for bit in stride(from: 16, to: sent.readableBytes * 8, by: 7) {
            var damaged = sent
            damaged.setInteger(
                (sent.getInteger(at: bit / 8, as: UInt8.self) ?? 0) ^ UInt8(1 << (bit % 8)), at: bit / 8)
            #expect(server.unprotectRTP(&damaged) == .authenticationFailed)
        }
        for length in 0..<sent.readableBytes {
            var cut = sent.getSlice(at: 0, length: length) ?? ByteBuffer()
            #expect(server.unprotectRTP(&cut) != .success)
            cut = sent.getSlice(at: 0, length: length) ?? ByteBuffer()
            #expect(server.unprotectRTCP(&cut) != .success)
        }
        var first = sent
        var second = sent
        #expect(server.unprotectRTP(&first) == .success)
        #expect(server.unprotectRTP(&second) == .replayed)
        #expect(server.statistics.replays == 1)
        #expect(server.statistics.authenticationFailures > 100)
    }

    @Test("An old packet can be protected again for retransmission, within the window")
    func repeats() throws {
        let (client, server) = try pair(.aeadAES128GCM)
        var lost = packet(1)
        #expect(client.protectRTP(&lost) == .success)
        for sequence in 2...UInt16(SRTPSession.replayWindow - 1) {
            var packet = packet(sequence)
            #expect(client.protectRTP(&packet) == .success)
            #expect(server.unprotectRTP(&packet) == .success)
        }
        var again = packet(1)
        #expect(client.protectRTP(&again) == .success)
        #expect(again == lost)
        #expect(server.unprotectRTP(&again) == .success)
        for sequence in UInt16(SRTPSession.replayWindow)...UInt16(SRTPSession.replayWindow + 8) {
            var packet = packet(sequence)
            #expect(client.protectRTP(&packet) == .success)
        }
        var tooOld = packet(1)
        #expect(client.protectRTP(&tooOld) == .replayed)
    }

    @Test(
        "A number is not reused with another header, and the packet is unchanged", arguments: SRTPProfile.allCases)
    func numberReused(profile: SRTPProfile) throws {
        let (client, _) = try pair(profile)
        var sent = packet(1)
        #expect(client.protectRTP(&sent) == .success)
        var other = packet(1)
        other.setInteger(UInt32(8), at: 4)
        let plain = other
        #expect(client.protectRTP(&other) == .sequenceNumberReused)
        #expect(other == plain)
        // Skipped numbers are unused.
        for sequence: UInt16 in [5, 3, 0] {
            var late = packet(sequence)
            #expect(client.protectRTP(&late) == .success)
        }
    }

    @Test("Packets out of order are accepted, over several sequence number wraps", arguments: SRTPProfile.allCases)
    func reordering(profile: SRTPProfile) throws {
        let (client, server) = try pair(profile)
        var held: ByteBuffer?
        for step in 0..<200 {
            // In steps of a thousand, which makes three wraps; every third packet comes after its successor.
            let plain = packet(UInt16(truncatingIfNeeded: 1000 * step))
            var sent = plain
            #expect(client.protectRTP(&sent) == .success)
            if step % 3 == 0 {
                held = sent
                continue
            }
            #expect(server.unprotectRTP(&sent) == .success)
            #expect(sent == plain)
            guard var late = held else { continue }
            held = nil
            #expect(server.unprotectRTP(&late) == .success)
        }
        #expect(server.statistics == SRTPStatistics())
    }

    @Test("SRTCP ends at its last index, and refuses control packets that are not encrypted")
    func controlLimits() throws {
        let (client, server) = try pair(.aeadAES128GCM)
        client.setControlIndex(SRTCPIndex.maximum - 1, ssrc: 7)
        var last = ByteBuffer(hex: "80c90001 00000007")
        #expect(client.protectRTCP(&last) == .success)
        #expect(server.unprotectRTCP(&last) == .success)
        var beyond = ByteBuffer(hex: "80c90001 00000007")
        #expect(client.protectRTCP(&beyond) == .keyExpired)
        var clear = ByteBuffer(hex: "80c90001 00000007 841dd968 3dd78ec9 2ae58790 125f62b3 000005d4")
        #expect(server.unprotectRTCP(&clear) == .malformed)
    }

    @Test("Headers with CSRCs and extensions are not encrypted, and one longer than its packet is refused")
    func longHeaders() throws {
        let (client, server) = try pair(.aeadAES256GCM)
        let plain = ByteBuffer(
            hex: "92600001 00000007 00000001 00000002 00000003 bede0001 10aabbcc 01020304")
        var sent = plain
        #expect(client.protectRTP(&sent) == .success)
        #expect(sent.getSlice(at: 0, length: 28) == plain.getSlice(at: 0, length: 28))
        #expect(sent.getSlice(at: 28, length: 4) != plain.getSlice(at: 28, length: 4))
        #expect(server.unprotectRTP(&sent) == .success)
        #expect(sent == plain)
        for header in ["9f600001 00000007 00000001", "90600001 00000007 00000001 bede0002 00000000"] {
            var short = ByteBuffer(hex: header)
            #expect(client.protectRTP(&short) == .malformed)
            short.writeRepeatingByte(0, count: 16)
            #expect(server.unprotectRTP(&short) == .malformed, "\(header)")
        }
    }

    @Test("Keying material of another length is refused")
    func wrongLength() {
        #expect(throws: IoTError.self) {
            try SRTPSession(profile: .aeadAES128GCM, keyingMaterial: [1, 2, 3], isDTLSClient: true)
        }
    }
}
