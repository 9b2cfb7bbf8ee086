import IoTCore
import NIOCore
import RTP
import RTPTestSupport
import TestSupport
import Testing

@testable import PeerTransport

/// Attacks by somebody who can reach the port and knows nothing, or only the user name.
@Suite struct StrangerTests {
    private func clientHello() throws -> ByteBuffer {
        let certificate = try PeerCertificate.generate()
        let session = try DTLSSession(
            certificate: certificate, role: .client, remoteFingerprints: [certificate.fingerprint])
        session.start()
        return try #require(session.nextDatagram())
    }

    private func stranger(_ number: Int) throws -> SocketAddress {
        try SocketAddress(ipAddress: "198.51.\(number / 250 % 250).\(number % 250 + 1)", port: 1024 + number % 60_000)
    }

    @Test("A flood from addresses that ICE has not validated causes no public-key work, no response, no memory use")
    func flood() throws {
        let link = try PeerLink()
        try link.exchangeDescriptions()
        let hello = try clientHello()
        let work = PublicKeyWork.count
        var random = SeededGenerator(seed: 3)
        var rtp = ByteBuffer(bytes: random.bytes(1_100))
        rtp.setInteger(UInt16(0x8060), at: 0)
        var control = ByteBuffer(bytes: random.bytes(80))
        control.setInteger(UInt16(0x80C8), at: 0)
        let response = STUNMessage(
            .successResponse, transactionID: STUNTransactionID(high: 1, low: 2)
        ).datagram(key: [1, 2, 3])
        let count = 5_000
        for number in 0..<count {
            let source = try stranger(number)
            for datagram in [hello, rtp, control, response, ByteBuffer(bytes: random.bytes(40))] {
                for index in 0...1 { link.inject(datagram, to: index, from: source) }
            }
        }
        #expect(PublicKeyWork.count == work)
        for peer in link.peers {
            #expect(peer.statistics.datagramsIgnored == UInt64(5 * count))
            #expect(peer.ice.validated.isEmpty)
            #expect(peer.earlyDatagrams.isEmpty)
            #expect(peer.heldDatagrams.isEmpty)
            // Only the checks to the peer, and the change to connecting.
            #expect(peer.outputs.count <= 8)
        }
        try link.run(for: .seconds(3)) { $0.areConnected }
        #expect(link.areConnected)
        // The handshake does cause public-key work, which shows that the counter works.
        #expect(PublicKeyWork.count >= work + 4)
    }

    @Test("STUN with a wrong password or fingerprint, or malformed, gets no response and validates no address")
    func wrongChecks() throws {
        let link = try PeerLink()
        try link.connect()
        let peer = link.peers[1]
        let theirs = try #require(link.peers[0].localDescription)
        let ours = try #require(peer.localDescription)
        let request = STUNMessage(
            .request, transactionID: STUNTransactionID(high: 7, low: 7),
            attributes: [
                .username("\(ours.iceUfrag):\(theirs.iceUfrag)"), .priority(1), .iceControlling(tieBreaker: .max),
                .useCandidate,
            ])
        let key = MessageIntegrity.shortTermKey(password: ours.icePassword)
        let right = request.datagram(key: key)
        var random = SeededGenerator(seed: 8)
        var forged = [request.datagram(key: MessageIntegrity.shortTermKey(password: "wrong")), request.datagram()]
        let fingerprint = right.readableBytes - 8
        for bit in 0..<(right.readableBytes * 8) {
            // Another attribute in FINGERPRINT's place follows the hash and must be ignored (RFC 8489 §14.5).
            if bit / 8 == fingerprint || bit / 8 == fingerprint + 1 { continue }
            // With this bit it looks like DTLS, which ignores an invalid record.
            if bit == 5 { continue }
            var damaged = right
            let byte = right.getInteger(at: bit / 8, as: UInt8.self) ?? 0
            damaged.setInteger(byte ^ 1 << UInt8(bit % 8), at: bit / 8)
            forged.append(damaged)
        }
        for length in 0..<right.readableBytes { forged.append(right.getSlice(at: 0, length: length) ?? ByteBuffer()) }
        forged.shuffle(using: &random)

        let before = peer.statistics
        let pairs = peer.ice.pairs.count
        let queued = peer.outputs.count
        for (number, datagram) in forged.enumerated() {
            link.inject(datagram, to: 1, from: try stranger(number))
            link.inject(datagram, to: 1)
        }
        let after = peer.statistics
        #expect(after.datagramsIgnored - before.datagramsIgnored == UInt64(2 * forged.count))
        #expect(after.responsesSent == before.responsesSent)
        #expect(after.requestsReceived == before.requestsReceived)
        #expect(peer.ice.validated == [ICERoute(link.addresses[0])])
        #expect(peer.ice.pairs.count == pairs)
        #expect(peer.outputs.count == queued)
        #expect(peer.selectedAddress == link.addresses[0])

        // The same request with the right password gets a response, so only the forgeries were at fault.
        link.inject(right, to: 1)
        #expect(peer.statistics.responsesSent == before.responsesSent + 1)
        try link.run(for: .seconds(40))
        #expect(link.areConnected)
    }

    @Test("A certificate with a wrong fingerprint fails with peerFailed before any packet can be sent or read")
    func wrongFingerprint() throws {
        let link = try PeerLink()
        let other = try PeerCertificate.generate().fingerprint.text
        try link.exchangeDescriptions(tamper: { text in
            text.split(separator: "\r\n").map {
                $0.hasPrefix("a=fingerprint:") ? "a=fingerprint:\(other)" : String($0)
            }.joined(separator: "\r\n")
        })
        var random = SeededGenerator(seed: 1)
        var packetizer = Packetizer(codec: MediaFixtures.h264)
        let packets = try packetizer.packetize(MediaFixtures.frame(MediaFixtures.h264, index: 0, using: &random))
        try link.run(for: .seconds(3)) { link in
            _ = link.peers[0].send(packets, mid: "0", at: link.now)
            return link.isEnded.allSatisfy { $0 }
        }
        #expect(link.states(0) == ["connecting", "failed peerFailed"])
        #expect(link.peers[0].statistics.outbound["0"]?.packetsSent ?? 0 == 0)
        #expect(link.frames(1, mid: "0").isEmpty)
        #expect(link.isEnded == [true, true])
    }

    @Test("Replayed datagrams of an old handshake leave the connection up and create no state")
    func replayedHandshake() throws {
        let link = try PeerLink()
        var handshake: [(Int, ByteBuffer)] = []
        link.tamper = { sender, datagram in
            handshake.append((1 - sender, datagram))
            return [datagram]
        }
        try link.connect()
        let work = PublicKeyWork.count
        for _ in 0..<50 {
            for (receiver, datagram) in handshake { link.inject(datagram, to: receiver) }
        }
        try link.run(for: .seconds(1))
        #expect(PublicKeyWork.count == work)
        #expect(link.areConnected)
        for peer in link.peers { #expect(peer.outputs.count <= 8) }
    }
}
