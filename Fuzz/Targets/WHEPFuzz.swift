import IoTCore
import NIOCore
import RTP

@testable import MediaChannel
@testable import PeerTransport

#if canImport(iotvideod)
    @testable import iotvideod
#endif

extension FuzzTarget {
    private static let certificate = try? PeerCertificate.generate()
    private static let video = RTPCodec(
        payloadType: 96, encodingName: "H264", clockRate: 90_000, formatParameters: ["packetization-mode": "1"])
    private static let opus = RTPCodec(payloadType: 111, encodingName: "opus", clockRate: 48_000, channels: 2)

    /// A browser's offer gets an answer that can be parsed, or an error; the fragments after it are bounded.
    static let whep = FuzzTarget(
        "whep",
        cost: ReadingCost { input in
            let text = String(decoding: input, as: UTF8.self)
            _ = try? TrickleFragment(parsing: text)
            guard let offer = try? SessionDescription(parsing: text) else { return }
            _ = try? answer(to: offer)
        }
    ) { input in
        let text = String(decoding: input, as: UTF8.self)
        if let fragment = try? TrickleFragment(parsing: text) {
            try require(fragment.candidates.count <= TrickleFragment.maximumCandidates + 1, "too many candidates")
            for candidate in fragment.candidates { _ = try? ICECandidate(parsing: candidate) }
        }
        guard let offer = try? SessionDescription(parsing: text) else { return }
        guard let (peer, choice, answer) = try? answer(to: offer) else { return }
        try require(answer.sections.count == offer.sections.count, "the answer has a different number of sections")
        let read = try SessionDescription(parsing: answer.text)
        for section in read.sections where !section.isRejected {
            try require(section.mid == choice.video || section.mid == choice.audio?.mid, "a section that is not chosen")
            try require(!section.direction.receives, "the camera receives media from a browser")
        }
        peer.handleTimeout(at: .uptimeNanoseconds(1_000_000_000))
        var steps = 0
        while let output = peer.poll() {
            if case .timeout = output { break }
            steps += 1
            try require(steps < 1_000, "an offer causes more than a thousand outputs")
        }
    }

    /// Answers like a camera.
    private static func answer(
        to offer: SessionDescription
    ) throws -> (PeerConnection, BrowserOffer, SessionDescription) {
        guard let certificate else { throw FuzzFailure(description: "no certificate") }
        let choice = try BrowserOffer(offer, video: video, isReordered: false, audio: opus)
        let sections = [
            choice.video.map { MediaSection(mid: $0, kind: .video, direction: .sendOnly, codecs: [video]) },
            choice.audio.map { MediaSection(mid: $0.mid, kind: .audio, direction: .sendOnly, codecs: [opus]) },
        ]
        let peer = PeerConnection(
            configuration: PeerConfiguration(
                hostAddresses: [try SocketAddress(ipAddress: "192.0.2.1", port: 9)], isControlling: false,
                sections: sections.compactMap(\.self)),
            certificate: certificate, now: .uptimeNanoseconds(1_000_000_000))
        let names = Set([choice.video, choice.audio?.mid].compactMap(\.self))
        return (peer, choice, try peer.createAnswer(to: offer) { names.contains($0.mid) })
    }
}
