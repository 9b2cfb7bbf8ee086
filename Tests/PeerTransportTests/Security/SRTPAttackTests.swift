import IoTCore
import NIOCore
import RTP
import RTPTestSupport
import TestSupport
import Testing

@testable import PeerTransport

/// An attacker on the path, or a stranger who knows the addresses, against an established connection.
@Suite struct SRTPAttackTests {
    enum Attack: String, CaseIterable, Sendable {
        case replayed
        case truncated
        case bitFlipped
        case crossSession
        case reflected
        case foreignSources
    }

    /// The attacker's packets for a protected packet; the packet itself is delivered as well.
    private func forge(_ attack: Attack, _ packet: ByteBuffer, random: inout SeededGenerator) -> [ByteBuffer] {
        switch attack {
        case .replayed:
            return [packet, packet]
        case .truncated:
            return (0..<4).compactMap { _ in
                packet.getSlice(
                    at: packet.readerIndex, length: Int.random(in: 0..<packet.readableBytes, using: &random))
            }
        case .bitFlipped:
            return (0..<4).map { _ in
                var damaged = packet
                let place = Int.random(in: 1..<packet.readableBytes, using: &random)
                let byte = packet.getInteger(at: packet.readerIndex + place, as: UInt8.self) ?? 0
                damaged.setInteger(byte ^ 1 << UInt8.random(in: 0..<8, using: &random), at: packet.readerIndex + place)
                return damaged
            }
        case .foreignSources:
            return (0..<20).map { _ in
                var foreign = packet
                let offset = RTCPPacket.isRTCP(packet) ? 4 : 8
                foreign.setInteger(UInt32.random(in: 0 ... .max, using: &random), at: packet.readerIndex + offset)
                return foreign
            }
        case .crossSession, .reflected:
            return []
        }
    }

    private func isMedia(_ datagram: ByteBuffer) -> Bool {
        (128...191).contains(datagram.getInteger(at: datagram.readerIndex, as: UInt8.self) ?? 0)
    }

    @Test(
        "Replayed, truncated, bit-flipped, reflected, cross-session and foreign packets change nothing",
        arguments: Attack.allCases)
    func attack(_ attack: Attack) throws {
        let link = try PeerLink()
        try link.connect()
        var random = SeededGenerator(seed: 9)
        var forged: UInt64 = 0

        // Another connection's packets, with other keys.
        var others: [[ByteBuffer]] = [[], []]
        if attack == .crossSession {
            let other = try PeerLink(seed: 2)
            try other.connect()
            other.tamper = { sender, datagram in
                others[sender].append(datagram)
                return [datagram]
            }
            try sendFrames(other)
        }
        link.tamper = { sender, datagram in
            guard isMedia(datagram) else { return [datagram] }
            var results: [ByteBuffer] = []
            switch attack {
            case .crossSession:
                results = others[sender].popLast().map { [$0] } ?? []
            case .reflected:
                link.inject(datagram, to: sender)
                forged += 1
            default:
                results = forge(attack, datagram, random: &random)
            }
            forged += UInt64(results.count)
            return results + [datagram]
        }
        let frames = try sendFrames(link)

        #expect(link.areConnected)
        #expect(link.frames(1, mid: "0").map(\.frame.bytes) == frames)
        let refused = link.peers.map(\.statistics).reduce(0) { $0 + $1.datagramsIgnored }
        #expect(forged >= 100)
        #expect(refused >= forged - forged / 20 && refused <= forged)
        for peer in link.peers {
            // Only authentic packets create state.
            #expect(peer.srtp?.sourceCounts.incoming ?? 99 <= 3)
            #expect(peer.routes.count <= 3)
        }
        #expect(link.peers[1].statistics.inbound["0"]?.packetsLost == 0)
    }

    /// Returns the frames' bytes.
    @discardableResult
    private func sendFrames(_ link: PeerLink) throws -> [ByteBuffer] {
        var random = SeededGenerator(seed: 5)
        var packetizer = Packetizer(codec: MediaFixtures.h264)
        var frames: [ByteBuffer] = []
        for index in 0..<60 {
            let frame = MediaFixtures.frame(MediaFixtures.h264, index: index, using: &random)
            frames.append(frame.bytes)
            link.peers[0].send(try packetizer.packetize(frame), mid: "0", at: link.now)
            try link.run(for: .milliseconds(100))
        }
        try link.run(for: .seconds(1))
        return frames
    }

    @Test("Neither a forged unencrypted goodbye nor a flood of undecryptable packets ends anything")
    func forgedControl() throws {
        let link = try PeerLink()
        try link.connect()
        var random = SeededGenerator(seed: 4)
        for _ in 0..<20_000 {
            var datagram = ByteBuffer(bytes: random.bytes(60))
            datagram.setInteger(UInt8(0x81), at: 0)
            datagram.setInteger(UInt8.random(in: 200...207, using: &random), at: 1)
            link.inject(datagram, to: 1)
        }
        #expect(link.peers[1].statistics.packetsUndecryptable == 20_000)
        #expect(link.peers[1].outputs.count <= 8)
        #expect(link.peers[1].srtp?.sourceCounts.incoming ?? 99 <= 2)
        try sendFrames(link)
        #expect(link.areConnected)
    }

    @Test("A peer cannot make us keep state for more than 64 sources")
    func manySources() throws {
        let material = [UInt8](repeating: 3, count: SRTPProfile.aeadAES128GCM.keyingMaterialLength)
        var results: [SRTPResult] = []
        let server = try SRTPSession(profile: .aeadAES128GCM, keyingMaterial: material, isDTLSClient: false)
        for ssrc in 0..<200 as Range<UInt32> {
            // A new session each time, because the sender has the same limit.
            let client = try SRTPSession(profile: .aeadAES128GCM, keyingMaterial: material, isDTLSClient: true)
            var packet = ByteBuffer(hex: "8060000100000007")
            packet.writeInteger(ssrc)
            #expect(client.protectRTP(&packet) == .success)
            results.append(server.unprotectRTP(&packet))
        }
        #expect(results.filter { $0 == .success }.count == SRTPSession.maximumSources)
        #expect(results.last == .tooManySources)
        #expect(server.sourceCounts.incoming == SRTPSession.maximumSources)
    }
}
