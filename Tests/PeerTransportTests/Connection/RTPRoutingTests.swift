import IoTCore
import NIOCore
import RTP
import RTPTestSupport
import TestSupport
import Testing

@testable import PeerTransport

/// The assignment of incoming packets to sections (RFC 9143 §9.2), and data in packet headers and RTCP.
@Suite struct RTPRoutingTests {
    private static let sections = ["a", "b"].map {
        MediaSection(mid: $0, kind: .video, direction: .sendOnly, codecs: [MediaFixtures.h264])
    }

    /// Offers two video sections with the same payload type, in a description without SSRCs.
    private func link(
        extensions: [HeaderExtensionMapping]? = nil, adjust: (inout PeerConfiguration) -> Void = { _ in }
    ) throws -> PeerLink {
        var sections = Self.sections
        if let extensions { for index in sections.indices { sections[index].headerExtensions = extensions } }
        let link = try PeerLink(sections: sections, adjust: adjust)
        try link.exchangeDescriptions(adjustOffer: { offer in
            for (index, entry) in offer.entries.enumerated() {
                guard case .media(var section) = entry else { continue }
                section.ssrc = nil
                section.retransmissionSSRC = nil
                offer.entries[index] = .media(section)
            }
        })
        try link.run(for: .seconds(3)) { $0.areConnected }
        try #require(link.areConnected)
        return link
    }

    private func send(_ link: PeerLink) throws -> [String: [ByteBuffer]] {
        var random = SeededGenerator(seed: 1)
        var packetizers = ["a": Packetizer(codec: MediaFixtures.h264), "b": Packetizer(codec: MediaFixtures.h264)]
        var sent: [String: [ByteBuffer]] = [:]
        for index in 0..<20 {
            for mid in ["a", "b"] {
                let frame = MediaFixtures.picture(
                    .h264, isKeyFrame: index == 0, size: 3_000, pts: Int64(index) * 40_000, using: &random)
                sent[mid, default: []].append(frame.bytes)
                let packets = try packetizers[mid]?.packetize(frame) ?? []
                link.peers[0].send(packets, mid: mid, at: link.now)
            }
            try link.run(for: .milliseconds(40))
        }
        try link.run(for: .seconds(2))
        return sent
    }

    @Test("Two sections with one payload type and no SSRC are distinguished by the packets' mid")
    func byMid() throws {
        let link = try link { $0.playoutDelay = PlayoutDelay(minimum: .zero, maximum: .milliseconds(200)) }
        let sent = try send(link)
        for mid in ["a", "b"] {
            let isSame = link.frames(1, mid: mid).map(\.frame.bytes) == sent[mid]
            #expect(isSame)
            #expect(
                link.peers[1].requestedPlayoutDelay(mid: mid)
                    == PlayoutDelay(minimum: .zero, maximum: .milliseconds(200)))
        }
        let statistics = link.peers[0].statistics
        #expect(statistics.remoteInbound["a"]?.roundTripTime == .milliseconds(20))
        #expect((statistics.remoteInbound["a"]?.roundTripTimeMeasurements ?? 0) > 0)
        #expect((statistics.acknowledgedBitrate ?? 0) > 500_000)
        #expect(statistics.outbound["a"]?.framesSent == 20 && statistics.outbound["a"]?.keyFramesSent == 1)
        #expect(link.peers[1].statistics.inbound["b"]?.ssrc == statistics.outbound["b"]?.ssrc)
    }

    @Test("Without a mid in the packets, a payload type of two sections identifies neither")
    func ambiguous() throws {
        let link = try link(extensions: [HeaderExtensionMapping(3, .transportSequenceNumber)])
        _ = try send(link)
        #expect(link.frames(1, mid: "a").isEmpty && link.frames(1, mid: "b").isEmpty)
        #expect(link.peers[1].statistics.datagramsIgnored > 20)
    }

    @Test("A rotation is reported before the frame in whose packets it is, once, and for its section only")
    func rotation() throws {
        let link = try link()
        link.peers[0].setRotation(.none, mid: "a")
        link.peers[0].setRotation(.left, mid: "b")
        _ = try send(link)
        link.peers[0].setRotation(.none, mid: "b")
        _ = try send(link)
        let events = link.events[1].compactMap { event -> String? in
            switch event {
            case .rotationChanged(let mid, let rotation): "\(mid) \(rotation.rawValue)"
            case .frame("b", _): "frame"
            default: nil
            }
        }
        let (turned, upright) = (events.firstIndex(of: "b 90"), events.firstIndex(of: "b 0"))
        #expect(turned == 0 && upright == 21 && events.count == 42, "\(events)")
    }

    @Test("A goodbye is reported for the section that it ends")
    func goodbye() throws {
        let link = try link()
        _ = try send(link)
        link.peers[0].close(at: link.now)
        try link.run(for: .milliseconds(100))
        let ended = link.events[1].compactMap { if case .goodbye(let mid) = $0 { mid } else { nil } }
        #expect(ended.sorted() == ["a", "b"])
    }
}
