public import IoTCore

/// What a dump of a channel contains: one track at one point of the player.
public enum DumpPart: String, Codable, Hashable, Sendable, CaseIterable {
    case receivedVideo, receivedAudio
    case intoDecoderVideo, intoDecoderAudio
    case outOfDecoderVideo, outOfDecoderAudio

    /// The longest duration of a dump, s.
    public static let maximumDuration = 60
    /// The largest dump.
    public static let maximumSize = 1 << 30

    public var track: MediaKind {
        switch self {
        case .receivedVideo, .intoDecoderVideo, .outOfDecoderVideo: .video
        case .receivedAudio, .intoDecoderAudio, .outOfDecoderAudio: .audio
        }
    }

    /// True for pictures and sound, false for coded frames.
    public var isDecoded: Bool { self == .outOfDecoderVideo || self == .outOfDecoderAudio }

    /// The usual name of the file, as in the guide of the IoT video SDK.
    ///
    /// - Parameter codec: `codec` of the track's description.
    public func fileName(codec: String) -> String {
        let point =
            switch self {
            case .receivedVideo, .receivedAudio: "01-received"
            case .intoDecoderVideo, .intoDecoderAudio: "02-into-decoder"
            case .outOfDecoderVideo, .outOfDecoderAudio: "03-out-of-decoder"
            }
        return "\(point)-\(track.rawValue).\(ending(codec: codec))"
    }

    private func ending(codec: String) -> String {
        switch self {
        case .outOfDecoderVideo: "y4m"
        case .outOfDecoderAudio: "wav"
        default:
            switch codec {
            case VideoCodec.h264.rawValue, VideoCodec.h265.rawValue, AudioCodec.opus.rawValue: codec
            case AudioCodec.aac.rawValue: "adts"
            default: "wav"
            }
        }
    }
}
