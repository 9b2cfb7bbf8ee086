import IoTCore
import NIOCore
import RTP

@testable import PeerTransport

extension FuzzTarget {
    private static let certificate = try? PeerCertificate.generate()

    /// An accepted description, written and parsed again, is the same; an offer of any shape gets an answer that can be
    /// parsed, or an error; an answer of any shape is accepted or refused.
    static let sdp = FuzzTarget("sdp") { input in
        let text = String(decoding: input, as: UTF8.self)
        guard let description = try? SessionDescription(parsing: text) else { return }
        let again = try SessionDescription(parsing: description.text)
        try require(
            again.credentials == description.credentials && again.fingerprints == description.fingerprints
                && again.candidates.map(\.text) == description.candidates.map(\.text)
                && again.sections.map(\.mid) == description.sections.map(\.mid)
                && again.sections.map(\.isRejected) == description.sections.map(\.isRejected),
            "written and parsed again it is different:\n\(description.text)")
        // From the second time on it is identical: a declined section without a codec contains an arbitrary format.
        let third = try SessionDescription(parsing: again.text)
        try require(third.text == again.text, "written:\n\(again.text)\nread again:\n\(third.text)")
        guard let certificate else { return }
        let codec = RTPCodec(
            payloadType: 96, encodingName: "H264", clockRate: 90_000, formatParameters: ["packetization-mode": "1"])
        let section = MediaSection(mid: "0", kind: .video, direction: .sendReceive, codecs: [codec])
        let address = try SocketAddress(ipAddress: "192.0.2.1", port: 9)
        let now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        func peer(controlling: Bool) -> PeerConnection {
            PeerConnection(
                configuration: PeerConfiguration(
                    hostAddresses: [address], isControlling: controlling, sections: [section]),
                certificate: certificate, now: now)
        }
        let answerer = peer(controlling: false)
        if let answer = try? answerer.createAnswer(to: description) {
            let read = try SessionDescription(parsing: answer.text)
            try require(read.sections.count == description.sections.count, "the answer has a wrong number of sections")
            answerer.handleTimeout(at: now)
            var steps = 0
            poll: while let output = answerer.poll() {
                if case .timeout = output { break poll }
                steps += 1
                try require(steps < 1_000, "an offer causes more than a thousand outputs")
            }
        }
        let offerer = peer(controlling: true)
        _ = try offerer.createOffer()
        try? offerer.setAnswer(description)
        offerer.handleTimeout(at: now)
    }

    /// An accepted candidate, written and parsed again, is the same.
    static let candidate = FuzzTarget("candidate") { input in
        let text = String(decoding: input, as: UTF8.self)
        guard let candidate = try? ICECandidate(parsing: text) else { return }
        let again = try ICECandidate(parsing: candidate.text)
        try require(again?.text == candidate.text, "\(text) became \(candidate.text)")
    }
}
