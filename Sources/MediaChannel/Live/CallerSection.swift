import IoTCore
import PeerTransport
import RTP

/// The media section of a live call in which the caller shows its own picture, from the caller to the device only.
enum CallerSection {
    /// The section's name in a device's offer.
    static let mid = "caller"

    /// Distinct from those of the camera's own tracks, because a bundle has one space of payload types (RFC 9143 §9.1).
    private static let payloadTypes: [(VideoCodec, UInt8)] = [(.h264, 102), (.h265, 104)]

    /// The section as the device describes it.
    static func receiving() -> MediaSection {
        let codecs = payloadTypes.map { codec, type in
            RTPCodec(.video(VideoParameters(codec: codec, parameterSets: [])), payloadType: type)
        }
        return MediaSection(mid: mid, kind: .video, direction: .receiveOnly, codecs: codecs, feedback: feedback)
    }

    /// The section of a browser's offer in which the browser only sends, and can send H.264.
    static func offered(in offer: SessionDescription) -> String? {
        offer.sections.first {
            $0.kind == .video && !$0.isRejected && $0.direction == .sendOnly
                && $0.codecs.contains { $0.format == .h264 }
        }?.mid
    }

    /// The section of a browser's offer as the device describes it. A browser adapts its bit rate.
    static func receiving(mid: String) -> MediaSection {
        var section = receiving()
        section.mid = mid
        section.codecs.removeAll { $0.format != .h264 }
        section.feedback.insert(.transportWide)
        return section
    }

    /// Whether a device's offer has the section.
    static func isOffered(in offer: SessionDescription) -> Bool {
        offer.sections.contains { $0.mid == mid && $0.kind == .video && $0.direction.receives }
    }

    /// The section as the caller describes it.
    static func sending(_ codec: RTPCodec) -> MediaSection {
        MediaSection(mid: mid, kind: .video, direction: .sendOnly, codecs: [codec], feedback: feedback)
    }

    /// Without the feedback for a rate: the encoder of a camera cannot be slowed down.
    private static let feedback: Set<MediaSection.Feedback> = [.nack, .pictureLossIndication]
}

extension RTPCodec {
    /// `nil` for sound, and for a codec that cannot be carried.
    var videoCodec: VideoCodec? {
        if case .video(let parameters) = trackParameters { parameters.codec } else { nil }
    }
}
