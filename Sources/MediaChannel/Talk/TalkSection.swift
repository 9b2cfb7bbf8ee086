import IoTCore
import PeerTransport
import RTP

/// The media section of a call in which the caller talks: Opus, from the caller to the device only.
enum TalkSection {
    /// The section's name in a device's offer.
    static let mid = "talk"
    static let payloadType: UInt8 = 111
    static let parameters = AudioParameters(codec: .opus, sampleRate: 48_000, channels: 1)

    /// A lost packet is not requested again: its sound would come too late, and the next packet can replace it (RFC
    /// 6716 §2.1.7).
    static let feedback: Set<MediaSection.Feedback> = [.transportWide]

    /// What we send in the section.
    static var codec: RTPCodec {
        var codec = RTPCodec(.audio(parameters), payloadType: payloadType)
        codec.formatParameters["useinbandfec"] = "1"
        codec.formatParameters["usedtx"] = "1"
        return codec
    }

    /// The section as the device describes it.
    static func receiving(mid: String = mid) -> MediaSection {
        MediaSection(mid: mid, kind: .audio, direction: .receiveOnly, codecs: [codec], feedback: feedback)
    }

    /// The section as the caller describes it.
    static func sending(mid: String = mid) -> MediaSection {
        MediaSection(mid: mid, kind: .audio, direction: .sendOnly, codecs: [codec], feedback: feedback)
    }

    /// The section of a browser's offer in which the browser only sends Opus.
    static func offered(in offer: SessionDescription) -> String? {
        offer.sections.first {
            $0.kind == .audio && !$0.isRejected && $0.direction == .sendOnly
                && $0.codecs.contains { $0.format == .opus }
        }?.mid
    }
}
