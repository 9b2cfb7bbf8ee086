import IoTCore
import NIOCore
import RTP
import RTPTestSupport
import TestSupport
import Testing

@testable import PeerTransport

@Suite struct PeerConnectionTests {
    @Test("Two peers connect; the answerer is the DTLS server, so that our order of SRTP profiles decides")
    func connects() throws {
        let link = try PeerLink()
        try link.connect()
        #expect(link.states(0) == ["connecting", "connected"])
        #expect(link.states(1) == ["connecting", "connected"])
        let offerer = link.peers[0].statistics
        let answerer = link.peers[1].statistics
        #expect(offerer.dtlsRole == "client" && answerer.dtlsRole == "server")
        #expect(offerer.iceRole == "controlling" && answerer.iceRole == "controlled")
        #expect(offerer.srtpCipher == "SRTP_AEAD_AES_128_GCM")
        #expect(answerer.srtpCipher == "SRTP_AEAD_AES_128_GCM")
        #expect(offerer.remoteAddress == link.addresses[2])
        #expect(offerer.currentRoundTripTime == .milliseconds(20))
        #expect(offerer.packetsSent >= answerer.packetsReceived && answerer.packetsReceived > 0)
        // One round trip for the checks, two for DTLS.
        #expect(link.now - .uptimeNanoseconds(5_000_000_000) <= .milliseconds(80))
    }

    @Test("All random values of a connection come from its generator, so that tests are reproducible")
    func seeded() throws {
        let certificate = try PeerCertificate.generate()
        func offer(seed: UInt64) throws -> String {
            let address = try SocketAddress(ipAddress: "192.0.2.1", port: 4000)
            let connection = PeerConnection(
                configuration: PeerConfiguration(
                    hostAddresses: [address], isControlling: true, sections: PeerLink.cameraSections),
                certificate: certificate, now: .uptimeNanoseconds(0), generator: SeededGenerator(seed: seed))
            return try connection.createOffer().text
        }
        #expect(try offer(seed: 1) == offer(seed: 1))
        #expect(try offer(seed: 1) != offer(seed: 2))
    }

    /// Sends `count` frames, 40 ms apart, with audio in between. Returns the sent frames.
    private func stream(
        _ link: PeerLink, count: Int, random: inout SeededGenerator
    ) throws -> (video: [MediaFrame], audio: [MediaFrame]) {
        var video = Packetizer(codec: MediaFixtures.h264)
        var audio = Packetizer(codec: MediaFixtures.pcma)
        var ring = PacketRing()
        var sent: (video: [MediaFrame], audio: [MediaFrame]) = ([], [])
        link.onEvent = { index, event in
            guard index == 0, case .retransmissionRequested("0", let sequences) = event else { return }
            for sequence in sequences {
                if let packet = ring.packet(sequence: sequence) {
                    link.peers[0].resend(packet, mid: "0", at: link.now)
                }
            }
        }
        for index in 0..<count {
            // Reveals the loss of the last packets.
            if index == count - 2 { link.lossRate = 0 }
            let picture = MediaFixtures.frame(MediaFixtures.h264, index: index, using: &random)
            let sound = MediaFrame(
                kind: .audio, isKeyFrame: true, pts: Int64(index) * 40_000, dts: Int64(index) * 40_000,
                bytes: ByteBuffer(bytes: random.bytes(320)))
            let packets = try video.packetize(picture)
            for packet in packets { ring.append(packet, at: link.now) }
            sent.video.append(picture)
            sent.audio.append(sound)
            #expect(link.peers[0].send(packets, mid: "0", at: link.now))
            #expect(link.peers[0].send(try audio.packetize(sound), mid: "1", at: link.now))
            try link.run(for: .milliseconds(40))
        }
        try link.run(for: .seconds(2))
        link.onEvent = { _, _ in }
        return sent
    }

    @Test("Frames arrive as they were sent, with the sender's time, and nothing on the wire is readable")
    func streams() throws {
        let link = try PeerLink()
        try link.connect()
        var random = SeededGenerator(seed: 3)
        let sent = try stream(link, count: 60, random: &random)
        let video = link.frames(1, mid: "0")
        let isSame = video.map(\.frame.bytes) == sent.video.map(\.bytes)
        #expect(isSame)
        #expect(video.map(\.frame.isKeyFrame) == sent.video.map(\.isKeyFrame))
        #expect(link.frames(1, mid: "1").map(\.frame.bytes) == sent.audio.map(\.bytes))
        let reports = Set(
            link.events[1].compactMap { if case .senderReport(let mid, _) = $0 { mid } else { nil } })
        #expect(reports == ["0", "1"])
        let probe = try #require(sent.audio.first).bytes.readableBytesView.prefix(16)
        for datagram in link.captured {
            #expect(!datagram.readableBytesView.contains(Array(probe)))
        }
        let statistics = link.peers[1].statistics
        #expect(statistics.inbound["0"]?.framesReceived == 60)
        #expect(statistics.inbound["0"]?.packetsLost == 0)
        #expect(link.peers[0].statistics.outbound["0"]?.roundTripTime == .milliseconds(20))
        #expect(link.peers[0].statistics.outbound["0"]?.packetsLost == 0)
    }

    @Test("NACK repairs loss, reordering and delay", arguments: 1...4)
    func repairsLoss(seed: Int) throws {
        let link = try PeerLink(seed: UInt64(seed))
        try link.connect()
        link.lossRate = 0.05
        link.jitter = .milliseconds(30)
        link.delay = .milliseconds(25)
        var random = SeededGenerator(seed: UInt64(seed))
        let sent = try stream(link, count: 60, random: &random)
        let isSame = link.frames(1, mid: "0").map(\.frame.bytes) == sent.video.map(\.bytes)
        #expect(isSame)
        #expect(link.peers[1].statistics.inbound["0"]?.retransmittedPacketsReceived ?? 0 > 0)
        #expect(link.peers[0].statistics.outbound["0"]?.nackCount ?? 0 > 0)
    }

    @Test("Without NACK the same loss costs frames")
    func lossWithoutNACK() throws {
        let link = try PeerLink(seed: 1) { $0.isNACKEnabled = false }
        try link.connect()
        link.lossRate = 0.05
        var random = SeededGenerator(seed: 1)
        let sent = try stream(link, count: 60, random: &random)
        #expect(link.frames(1, mid: "0").count < sent.video.count)
        #expect(link.peers[0].statistics.outbound["0"]?.nackCount == 0)
    }

    @Test("The answerer sends in the section that allows it, and not in the other")
    func talksBack() throws {
        let talk = MediaSection(mid: "", kind: .audio, direction: .sendReceive, codecs: [MediaFixtures.pcma])
        let link = try PeerLink(answering: [talk])
        try link.connect()
        #expect(link.peers[1].sendingCodec(mid: "1") == MediaFixtures.pcma)
        #expect(link.peers[1].sendingCodec(mid: "0") == nil)
        var packetizer = Packetizer(codec: MediaFixtures.pcma)
        let packets = try packetizer.packetize(
            MediaFrame(kind: .audio, isKeyFrame: true, pts: 0, dts: 0, bytes: ByteBuffer(bytes: [1, 2, 3])))
        #expect(link.peers[1].send(packets, mid: "1", at: link.now))
        #expect(!link.peers[1].send(packets, mid: "0", at: link.now))
        try link.run(for: .seconds(1))
        #expect(link.frames(0, mid: "1").map(\.frame.bytes) == [ByteBuffer(bytes: [1, 2, 3])])
    }

    @Test("A key frame request reaches the sender")
    func requestsKeyFrame() throws {
        let link = try PeerLink()
        try link.connect()
        var random = SeededGenerator(seed: 9)
        _ = try stream(link, count: 3, random: &random)
        link.peers[1].requestKeyFrame(mid: "0")
        try link.run(for: .seconds(1))
        let requests = link.events[0].filter { if case .keyFrameRequested("0") = $0 { true } else { false } }
        #expect(requests.count == 1)
    }

    @Test("A certificate with a wrong fingerprint fails with peerFailed; the other side sees the end")
    func wrongFingerprint() throws {
        let link = try PeerLink()
        let other = try PeerCertificate.generate().fingerprint.text
        let right = link.peers[1].certificate.fingerprint.text
        try link.exchangeDescriptions(tamper: { $0.replacing(right, with: other) })
        try link.run(for: .seconds(5)) { $0.isEnded == [true, true] }
        #expect(link.states(0) == ["connecting", "failed peerFailed"])
        #expect(link.states(1).last == "closed")
        #expect(link.frames(1, mid: "0").isEmpty)
    }

    @Test("The other side sees close, and neither side has anything left to do")
    func closes() throws {
        let link = try PeerLink()
        try link.connect()
        link.peers[0].close(at: link.now)
        try link.run(for: .seconds(1)) { $0.isEnded == [true, true] }
        #expect(link.states(0).last == "closed")
        #expect(link.states(1).last == "closed")
        #expect(!link.peers[0].send([], mid: "0", at: link.now))
        #expect(link.peers[0].poll() == nil)
    }

    @Test("A dead link causes disconnected, then timeoutDisconnected, and no further datagram")
    func dies() throws {
        let link = try PeerLink()
        try link.connect()
        try link.run(for: .seconds(3))
        link.isCut = true
        try link.run(for: .seconds(40)) { $0.isEnded == [true, true] }
        #expect(link.states(0).suffix(2) == ["disconnected", "failed timeoutDisconnected"])
        #expect(link.states(1).suffix(2) == ["disconnected", "failed timeoutDisconnected"])
    }

    @Test("Without a path to the peer, handshakeTimeout follows after the configured time")
    func handshakeTimeout() throws {
        let link = try PeerLink { $0.handshakeTimeout = .seconds(4) }
        link.isCut = true
        try link.exchangeDescriptions()
        let start = link.now
        try link.run(for: .seconds(10)) { $0.isEnded == [true, true] }
        #expect(link.states(0) == ["connecting", "failed handshakeTimeout"])
        #expect(link.now - start == .seconds(4))
    }

    @Test("DTLS that arrives before the answer waits for it")
    func earlyDTLS() throws {
        let link = try PeerLink()
        // The answerer is the DTLS client, and starts before the offerer has the answer.
        let answer = try link.makeAnswer { $0.setup = .passive }
        try link.run(for: .milliseconds(200))
        #expect(!link.peers[0].earlyDatagrams.isEmpty)
        try link.peers[0].setAnswer(SessionDescription(parsing: answer.text))
        try link.run(for: .milliseconds(200)) { $0.areConnected }
        #expect(link.areConnected)
        #expect(link.peers[0].statistics.dtlsRole == "server")
    }

    @Test("Candidates trickle after descriptions without any")
    func trickles() throws {
        let link = try PeerLink { configuration in
            configuration.hostAddresses = []
            configuration.hasAllHostAddresses = false
        }
        try link.exchangeDescriptions()
        link.onEvent = { index, event in
            guard case .localCandidate(let text) = event else { return }
            do {
                try link.peers[1 - index].addRemoteCandidate(text)
            } catch {
                Issue.record(error)
            }
        }
        try link.run(for: .milliseconds(100))
        link.peers[0].addHostAddress(link.addresses[0])
        link.peers[1].addHostAddress(link.addresses[2])
        link.peers[1].endHostAddresses()
        try link.run(for: .seconds(2)) { $0.areConnected }
        #expect(link.areConnected)
        #expect(throws: IoTError.self) { try link.peers[0].addRemoteCandidate("candidate:") }
    }

    @Test("Datagrams from strangers are counted and ignored, and start no handshake")
    func strangers() throws {
        let link = try PeerLink()
        try link.connect()
        let stranger = try SocketAddress(ipAddress: "203.0.113.5", port: 5)
        let attacker = try DTLSSession(
            certificate: PeerCertificate.generate(), role: .client, remoteFingerprints: [])
        attacker.start()
        let hello = try #require(attacker.nextDatagram())
        var random = SeededGenerator(seed: 77)
        var datagrams = [hello, ByteBuffer(), ByteBuffer(bytes: [0x80]), ByteBuffer(bytes: [0x80, 0xC8])]
        for _ in 0..<500 {
            datagrams.append(ByteBuffer(bytes: random.bytes(Int.random(in: 1...200, using: &random))))
        }
        let before = link.captured.count
        for datagram in datagrams {
            link.peers[0].receive(datagram, from: stranger, at: link.now)
        }
        try link.run(for: .milliseconds(1))
        #expect(link.captured.count == before)
        #expect(link.peers[0].statistics.datagramsIgnored == UInt64(datagrams.count))
        // The same datagrams from the peer's address: noise on the path must not end the connection either.
        for datagram in datagrams {
            link.peers[0].receive(datagram, from: link.addresses[2], at: link.now)
        }
        try link.run(for: .seconds(2))
        #expect(link.areConnected)
        #expect(link.peers[0].statistics.packetsUndecryptable > 0)
    }

    @Test("Nothing is sent before the connection is up, and afterwards no more than the queue holds")
    func boundedQueue() throws {
        let link = try PeerLink { $0.maximumQueuedDatagrams = 100 }
        var packetizer = Packetizer(codec: MediaFixtures.pcma)
        let packets = try (0..<150).flatMap { index in
            try packetizer.packetize(
                MediaFrame(
                    kind: .audio, isKeyFrame: true, pts: Int64(index) * 1000, dts: 0,
                    bytes: ByteBuffer(repeating: 0, count: 8)))
        }
        #expect(!link.peers[0].send(packets, mid: "1", at: link.now))
        try link.connect()
        #expect(!link.peers[0].send(packets, mid: "1", at: link.now))
        #expect(!link.peers[0].send(Array(packets.suffix(1)), mid: "1", at: link.now))
        try link.run(for: .seconds(1))
        #expect(link.frames(1, mid: "1").count == 100)
        #expect(link.peers[0].statistics.packetsDiscardedOnSend >= 2)
    }

    @Test("Descriptions in the wrong order or of the wrong form throw an error")
    func misuse() throws {
        let link = try PeerLink()
        #expect(throws: IoTError.self) {
            try link.peers[0].setAnswer(SessionDescriptionTests.offer())
        }
        try link.exchangeDescriptions()
        #expect(throws: IoTError.self) { _ = try link.peers[0].createOffer() }
        #expect(throws: IoTError.self) { _ = try link.peers[1].createAnswer(to: SessionDescriptionTests.offer()) }
        let empty = try PeerLink(sections: [])
        #expect(throws: IoTError.self) { _ = try empty.peers[0].createOffer() }
        let refusing = try PeerLink()
        let offer = try refusing.peers[0].createOffer()
        #expect { _ = try refusing.peers[1].createAnswer(to: offer, accepting: { _ in false }) } throws: { error in
            (error as? IoTError)?.code == .sessionDescriptionInvalid
        }
        let answer = try refusing.peers[1].createAnswer(to: offer, accepting: { $0.kind == .video })
        #expect(answer.sections.map(\.isRejected) == [false, true])
        try refusing.peers[0].setAnswer(SessionDescription(parsing: answer.text))
        #expect(refusing.peers[0].sendingCodec(mid: "1") == nil)
        #expect(refusing.peers[0].sendingCodec(mid: "0") != nil)
    }
}
