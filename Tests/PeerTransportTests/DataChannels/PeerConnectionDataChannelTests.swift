import IoTCore
import NIOCore
import RTP
import RTPTestSupport
import Testing

@testable import PeerTransport

/// Data channels over ICE and DTLS.
@Suite struct PeerConnectionDataChannelTests {
    private func link(
        sections: [MediaSection] = [], answererHasData: Bool = true, seed: UInt64 = 1
    ) throws -> PeerLink {
        var index = 0
        return try PeerLink(sections: sections, seed: seed) { configuration in
            if index == 0 || answererHasData { configuration.dataChannels = DataChannelConfiguration() }
            index += 1
        }
    }

    private func opened(_ link: PeerLink, _ index: Int) -> [DataChannel] {
        link.events[index].compactMap { if case .dataChannelOpened(let channel) = $0 { channel } else { nil } }
    }

    private func messages(_ link: PeerLink, _ index: Int) -> [DataChannelMessage] {
        link.events[index].compactMap { if case .dataChannelMessage(_, let message) = $0 { message } else { nil } }
    }

    private func closed(_ link: PeerLink, _ index: Int) -> [ErrorCode?] {
        link.events[index].compactMap { event -> ErrorCode?? in
            if case .dataChannelClosed(_, let error) = event { .some(error?.code) } else { nil }
        }
    }

    @Test("A connection with only data channels carries messages both ways, in datagrams of at most 1200 bytes")
    func dataAlone() throws {
        let link = try link()
        let id = try link.peers[0].openDataChannel(label: "first", at: link.now).id
        try link.connect()
        try link.run(for: .seconds(2)) { !self.opened($0, 1).isEmpty }
        let theirs = try #require(opened(link, 1).first)
        #expect(theirs.label == "first" && theirs.isRemote)
        let big = DataChannelMessage.binary(ByteBuffer(bytes: (0..<64_000).map { UInt8(truncatingIfNeeded: $0) }))
        try link.peers[0].send(.text("hello"), on: id, at: link.now)
        try link.peers[1].send(big, on: theirs.id, at: link.now)
        try link.run(for: .seconds(5)) { self.messages($0, 0).count == 1 && self.messages($0, 1).count == 1 }
        #expect(messages(link, 1) == [.text("hello")])
        let isSame = messages(link, 0) == [big]
        #expect(isSame)
        #expect(!link.captured.contains { $0.readableBytesView.contains(Array("hello".utf8)) })
        let statistics = link.peers[1].statistics
        #expect(statistics.dataChannelsOpened == 1 && statistics.dataChannels.first?.bytesSent == 64_000)
        #expect(statistics.sctpTransport?.smoothedRoundTripTime ?? .zero >= .milliseconds(20))
        link.peers[0].closeDataChannel(id, at: link.now)
        try link.run(for: .seconds(2))
        #expect(closed(link, 0) == [nil] && closed(link, 1) == [nil])
        #expect(link.areConnected)
    }

    @Test("Data channels work beside media, under loss; the end of the connection closes them", arguments: 1...3)
    func besideMedia(seed: Int) throws {
        let link = try link(sections: PeerLink.cameraSections, seed: UInt64(seed))
        let ids = try (0..<3).map { try link.peers[0].openDataChannel(label: "\($0)", at: link.now).id }
        try link.connect()
        link.lossRate = 0.05
        link.jitter = .milliseconds(20)
        try link.run(for: .seconds(10)) { self.opened($0, 0).count == 3 }
        var sent: [DataChannelMessage] = []
        for index in 0..<30 {
            let message = DataChannelMessage.text(String(repeating: "\(index) ", count: 700))
            sent.append(message)
            try link.peers[0].send(message, on: ids[0], at: link.now)
        }
        try link.run(for: .seconds(60)) { self.messages($0, 1).count == 30 }
        let isSame = messages(link, 1) == sent
        #expect(isSame)
        link.lossRate = 0
        try link.run(for: .seconds(1))
        link.peers[0].close(at: link.now)
        try link.run(for: .seconds(1)) { $0.isEnded == [true, true] }
        #expect(closed(link, 0) == [nil, nil, nil])
        #expect(closed(link, 1).count == 3)
        #expect(throws: IoTError.self) { try link.peers[0].openDataChannel(label: "late", at: link.now) }
    }

    @Test("A peer without data channels declines the section; media continue and our channels close with an error")
    func declined() throws {
        let link = try link(sections: PeerLink.cameraSections, answererHasData: false)
        try link.peers[0].openDataChannel(label: "a", at: link.now)
        #expect(throws: IoTError.self) { try link.peers[1].openDataChannel(label: "a", at: link.now) }
        try link.connect()
        try link.run(for: .seconds(1))
        #expect(closed(link, 0) == [.actionNotSupported])
        #expect(link.peers[0].remoteDescription?.dataSection?.isRejected == true)
        #expect(link.areConnected)
    }

    @Test("When the path to the peer is lost, the channels end with the connection's error code")
    func dies() throws {
        let link = try link()
        try link.peers[0].openDataChannel(label: "a", at: link.now)
        try link.connect()
        try link.run(for: .seconds(1))
        link.isCut = true
        try link.run(for: .seconds(60)) { $0.isEnded == [true, true] }
        #expect(closed(link, 0) == [.timeoutDisconnected])
        #expect(closed(link, 1) == [.timeoutDisconnected])
    }

    @Test("An oversized message ends the data channels with dataTooLong; the media connection stays up")
    func oversized() throws {
        var index = 0
        let link = try PeerLink(sections: PeerLink.cameraSections) { configuration in
            configuration.dataChannels = DataChannelConfiguration(maximumSentMessage: index == 0 ? 1 << 20 : 64_000)
            index += 1
        }
        let id = try link.peers[0].openDataChannel(label: "a", at: link.now).id
        // The answer removes the size limit.
        try link.exchangeDescriptions(tamper: { $0.replacing("max-message-size:262144", with: "max-message-size:0") })
        try link.run(for: .seconds(3)) { $0.areConnected && self.opened($0, 1).count == 1 }
        try link.peers[0].send(.binary(ByteBuffer(repeating: 1, count: 300_000)), on: id, at: link.now)
        try link.run(for: .seconds(5))
        #expect(closed(link, 1) == [.dataTooLong])
        #expect(closed(link, 0) == [.channelDisconnected])
        #expect(messages(link, 1).isEmpty)
        #expect(link.areConnected)
        var packetizer = Packetizer(codec: MediaFixtures.pcma)
        let packets = try packetizer.packetize(
            MediaFrame(kind: .audio, isKeyFrame: true, pts: 0, dts: 0, bytes: ByteBuffer(bytes: [1, 2, 3])))
        #expect(link.peers[0].send(packets, mid: "1", at: link.now))
        try link.run(for: .seconds(1))
        #expect(link.frames(1, mid: "1").count == 1)
    }

    @Test("The section of data channels is written and parsed back; a peer's numbers are checked")
    func description() throws {
        let link = try link(sections: PeerLink.cameraSections)
        let offer = try link.peers[0].createOffer()
        let read = try SessionDescription(parsing: offer.text)
        #expect(read.dataSection == DataSection(mid: "2"))
        #expect(read.text == offer.text)
        for line in [
            "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=group:BUNDLE 0 1 2", "a=sctp-port:5000",
            "a=max-message-size:262144", "a=mid:2",
        ] {
            #expect(offer.text.contains(line + "\r\n"), "\(line)")
        }
        for (from, to) in [
            ("sctp-port:5000", "sctp-port:65536"), ("sctp-port:5000", "sctp-port:"), ("size:262144", "size:-1"),
            ("size:262144", "size:"), ("size:262144", "size:1e9"),
        ] {
            #expect(throws: IoTError.self) { try SessionDescription(parsing: offer.text.replacing(from, with: to)) }
        }
        let huge = try SessionDescription(
            parsing: offer.text.replacing("size:262144", with: "size:99999999999999999999999"))
        #expect(huge.dataSection?.maximumMessageSize == .max)
        let silent = try SessionDescription(parsing: offer.text.replacing("a=max-message-size:262144\r\n", with: ""))
        #expect(silent.dataSection?.maximumMessageSize == 65_536)
        let outside = try SessionDescription(parsing: offer.text.replacing("BUNDLE 0 1 2", with: "BUNDLE 0 1"))
        #expect(outside.dataSection?.isRejected == true)
    }
}
