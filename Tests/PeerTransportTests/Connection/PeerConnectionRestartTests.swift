import Foundation
import IoTCore
import NIOCore
import RTP
import RTPTestSupport
import TestSupport
import Testing

@testable import PeerTransport

/// ICE restarts by exchange of descriptions as text, while the connection continues.
@Suite struct PeerConnectionRestartTests {
    /// - Parameter index: the peer that offers.
    static func restart(_ link: PeerLink, from index: Int) throws {
        let offer = try link.peers[index].createRestartOffer().text
        let answer = try link.peers[1 - index].createAnswer(to: SessionDescription(parsing: offer)).text
        try link.peers[index].setAnswer(SessionDescription(parsing: answer))
    }

    @Test("An inactive section stays in the answer to a restart")
    func inactiveSection() throws {
        let link = try PeerLink()
        try link.connect()
        let offer = try link.peers[0].createRestartOffer().text
        let held = offer.replacingOccurrences(of: "a=sendonly", with: "a=inactive")
            .replacingOccurrences(of: "a=sendrecv", with: "a=inactive")
        #expect(held != offer)
        let answer = try link.peers[1].createAnswer(to: SessionDescription(parsing: held))
        #expect(answer.text.contains("a=inactive") && !answer.text.contains("m=video 0"))
    }

    @Test(
        "Either side restarts, twice; the connection stays up and frames arrive before, during and after",
        arguments: [0, 1])
    func restarts(index: Int) throws {
        let link = try PeerLink()
        try link.connect()
        let certificate = link.peers[0].remoteDescription?.fingerprints
        var packetizer = Packetizer(codec: MediaFixtures.h264)
        var random = SeededGenerator(seed: 5)
        var sent = 0
        func send() throws {
            let frame = MediaFixtures.frame(MediaFixtures.h264, index: sent, using: &random)
            link.peers[0].send(try packetizer.packetize(frame), mid: "0", at: link.now)
            sent += 1
            try link.run(for: .milliseconds(40))
        }
        for _ in 1...2 {
            let fragments = link.peers.map(\.iceUfrag)
            try send()
            let offer = try link.peers[index].createRestartOffer()
            #expect(offer.iceUfrag != fragments[index])
            #expect(offer.setup == .either)
            try send()
            let answer = try link.peers[1 - index].createAnswer(to: SessionDescription(parsing: offer.text))
            // The DTLS roles do not change.
            #expect(answer.setup == (link.peers[1 - index].statistics.dtlsRole == "client" ? .active : .passive))
            try send()
            try link.peers[index].setAnswer(SessionDescription(parsing: answer.text))
            try link.run(for: .seconds(2))
            for (peer, old) in zip(link.peers, fragments) {
                #expect(peer.iceUfrag != old)
                #expect(peer.ice.state == .completed)
                #expect(!peer.ice.isSelectedOfPrevious)
            }
            try send()
        }
        try link.run(for: .minutes(2))
        try send()
        #expect(link.frames(1, mid: "0").count == sent)
        #expect(link.states(0) == ["connecting", "connected"])
        #expect(link.states(1) == ["connecting", "connected"])
        #expect(link.peers[0].remoteDescription?.fingerprints == certificate)
    }

    @Test("A restart keeps the streams, their repairs and their names, whichever side offers it", arguments: [0, 1])
    func keepsStreams(index: Int) throws {
        let link = try PeerLink(answering: [
            MediaSection(mid: "", kind: .audio, direction: .sendReceive, codecs: [MediaFixtures.pcma])
        ])
        try link.connect()
        func streams() -> [[String]] {
            link.peers.map { peer in
                (peer.localDescription?.text ?? "").split(whereSeparator: \.isNewline).map(String.init).filter { line in
                    ["m=", "a=msid:", "a=ssrc", "a=rtpmap:", "a=extmap:"].contains { line.hasPrefix($0) }
                }
            }
        }
        let before = streams()
        #expect(before[0].contains { $0.hasPrefix("a=ssrc-group:FID") } && before[0].contains { $0.contains(" rtx/") })
        for _ in 1...2 {
            try Self.restart(link, from: index)
            #expect(streams() == before)
        }
    }

    @Test("A restart's answer does not accept codecs that were not agreed before, because they have no track")
    func acceptsNoMore() throws {
        let link = try PeerLink(answering: [
            MediaSection(mid: "", kind: .audio, direction: .sendReceive, codecs: [MediaFixtures.pcma])
        ])
        try link.connect()
        let before = try #require(link.peers[0].localDescription).sections
        var offer = try link.peers[1].createRestartOffer()
        offer.entries = offer.entries.map { entry in
            guard case .media(var section) = entry else { return entry }
            section.codecs.append(
                section.kind == .video
                    ? RTPCodec(payloadType: 121, encodingName: "H265", clockRate: 90_000)
                    : RTPCodec(payloadType: 0, encodingName: "PCMU", clockRate: 8_000))
            section.headerExtensions.append(HeaderExtensionMapping(identifier: 9, uri: "urn:example"))
            return .media(section)
        }
        let answer = try link.peers[0].createAnswer(to: SessionDescription(parsing: offer.text))
        #expect(answer.sections.map { Set($0.codecs) } == before.map { Set($0.codecs) })
        #expect(answer.sections.map { Set($0.headerExtensions) } == before.map { Set($0.headerExtensions) })
    }

    @Test("A restart that renumbers the codecs is refused, and the connection continues")
    func refusesOtherCodecs() throws {
        let link = try PeerLink()
        try link.connect()
        let fragment = link.peers[0].iceUfrag
        let offer = try link.peers[1].createRestartOffer().text
        let other = offer.replacing("SAVPF 8", with: "SAVPF 100").replacing("rtpmap:8 ", with: "rtpmap:100 ")
        #expect(other != offer)
        #expect { try link.peers[0].createAnswer(to: SessionDescription(parsing: other)) } throws: { error in
            (error as? IoTError)?.code == .sessionDescriptionInvalid
        }
        #expect(link.peers[0].iceUfrag == fragment)
    }

    @Test("A declined section stays declined after a restart, whichever side offers it", arguments: [0, 1])
    func keepsDeclined(index: Int) throws {
        let link = try PeerLink { configuration in
            if configuration.isControlling { configuration.dataChannels = DataChannelConfiguration() }
        }
        let offer = try SessionDescription(parsing: link.peers[0].createOffer().text)
        let answer = try link.peers[1].createAnswer(to: offer) { $0.kind == .video }
        try link.peers[0].setAnswer(SessionDescription(parsing: answer.text))
        try link.run(for: .seconds(3)) { $0.areConnected }
        for _ in 1...2 {
            try Self.restart(link, from: index)
            for peer in link.peers {
                let description = try SessionDescription(parsing: #require(peer.localDescription).text)
                #expect(description.entries.map(\.isRejected) == [false, true, true])
            }
            try link.run(for: .seconds(2))
            #expect(link.peers.allSatisfy { $0.ice.state == .completed && !$0.ice.isSelectedOfPrevious })
        }
    }

    @Test("A remote candidate does not start our restart while it waits for its answer")
    func lateCandidate() throws {
        let link = try PeerLink()
        try link.connect()
        _ = try link.peers[0].createRestartOffer()
        try link.peers[0].addRemoteCandidate("candidate:1 1 udp 1 192.0.2.2 4000 typ host")
        try link.run(for: .seconds(5))
        #expect(link.peers[0].ice.state == .idle)
        #expect(link.areConnected)
    }

    @Test("A lite answerer signals ice-lite, is controlled, and sends no checks")
    func lite() throws {
        let link = try PeerLink { configuration in configuration.ice.isLite = !configuration.isControlling }
        try link.connect()
        #expect(link.peers[0].remoteDescription?.isICELite == true)
        #expect(link.peers[0].localDescription?.isICELite == false)
        try link.run(for: .minutes(1))
        #expect(link.areConnected)
        #expect(link.peers[1].statistics.iceRole == "controlled")
        #expect(link.peers[1].statistics.requestsSent == 0)
    }

    @Test("A lite offerer is controlled")
    func liteOfferer() throws {
        let link = try PeerLink { configuration in configuration.ice.isLite = configuration.isControlling }
        try link.connect()
        #expect(link.peers[0].statistics.iceRole == "controlled")
        #expect(link.peers[1].statistics.iceRole == "controlling")
    }

    @Test("Servers are queried once the first host address is known")
    func waitsForAddresses() throws {
        let address = try SocketAddress(ipAddress: "192.0.2.1", port: 4000)
        var configuration = PeerConfiguration(
            hostAddresses: [], isControlling: true, sections: PeerLink.cameraSections, hasAllHostAddresses: false)
        configuration.ice.servers = [try ICEServer(urls: ["stun:192.0.2.100"])]
        let now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        let peer = PeerConnection(configuration: configuration, certificate: try PeerCertificate.generate(), now: now)
        _ = try peer.createOffer()
        peer.handleTimeout(at: now)
        guard case .timeout(let deadline)? = peer.poll() else {
            Issue.record("a server is queried too early")
            return
        }
        #expect(deadline > now)
        peer.addHostAddress(address)
        guard case .event(.localCandidate)? = peer.poll(), case .timeout(let due)? = peer.poll() else {
            Issue.record("the address was not signalled")
            return
        }
        #expect(due <= now)
        peer.handleTimeout(at: now)
        guard case .transmit(_, let destination)? = peer.poll() else {
            Issue.record("the server is not queried")
            return
        }
        #expect(destination.ipAddress == "192.0.2.100")
    }

    @Test("A description that is not a restart is refused, and the connection continues")
    func refuses() throws {
        let link = try PeerLink()
        #expect(throws: IoTError.self) { try link.peers[0].createRestartOffer() }
        try link.connect()
        let first = try #require(link.peers[0].localDescription)
        // Old credentials.
        #expect(throws: IoTError.self) { try link.peers[1].createAnswer(to: first) }
        var offer = try link.peers[0].createRestartOffer()
        #expect(throws: IoTError.self) { try link.peers[0].createRestartOffer() }
        // A different certificate.
        var stranger = offer
        stranger.fingerprints = [try PeerCertificate.generate().fingerprint]
        #expect { try link.peers[1].createAnswer(to: stranger) } throws: { error in
            (error as? IoTError)?.code == .sessionDescriptionInvalid
        }
        // Different sections.
        offer.entries.removeLast()
        #expect { try link.peers[1].createAnswer(to: offer) } throws: { error in
            (error as? IoTError)?.code == .sessionDescriptionInvalid
        }
        // The previous answer.
        let old = try #require(link.peers[0].remoteDescription)
        #expect { try link.peers[0].setAnswer(old) } throws: { error in
            (error as? IoTError)?.code == .sessionDescriptionInvalid
        }
        try link.run(for: .minutes(1))
        #expect(link.areConnected)
        link.peers[0].close(at: link.now)
        #expect(throws: IoTError.self) { try link.peers[0].createRestartOffer() }
    }

    @Test(
        "The offer has only host candidates; the others trickle, and their end is signalled", .timeLimit(.minutes(1)))
    func trickles() throws {
        let server = try ICEServer(urls: ["stun:192.0.2.100"])
        let link = try PeerLink { configuration in configuration.ice.servers = [server] }
        let offer = try link.peers[0].createOffer()
        #expect(offer.candidates.map(\.kind) == [.host])
        #expect(!offer.hasEndOfCandidates)
        #expect(!link.peers[0].isGatheringComplete)
        // The link does not answer for the server, so the query times out.
        try link.run(for: .seconds(11))
        let said = link.events[0].compactMap { event -> String? in
            switch event {
            case .localCandidate(let text): "candidate \(text)"
            case .candidateError(let url, let code, _): "error \(url) \(code)"
            default: nil
            }
        }
        #expect(said == ["error stun:192.0.2.100 701", "candidate "])
        #expect(link.peers[0].isGatheringComplete)
        #expect(link.peers[0].localDescription?.hasEndOfCandidates == true)
    }
}
