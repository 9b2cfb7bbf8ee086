import IoTCore
import PeerTransport
import RTP

/// What a camera can send to a browser, according to the browser's offer.
struct BrowserOffer {
    /// The format of the sound that a viewer gets.
    enum Sound {
        /// The camera's format.
        case original
        /// Transcoded to Opus.
        case opus
    }

    /// The offer's section for the picture; `nil` if it asks for none.
    private(set) var video: String?
    private(set) var audio: (mid: String, sound: Sound)?

    /// - Parameters:
    ///   - picture: the camera's video codec, if any; `isReordered`: the video has B-frames.
    ///   - sound: the camera's audio codec, if any.
    /// - Throws: `codecUnsupported`, with a remedy, if the browser asks for a picture but cannot show this camera's;
    ///   `sessionDescriptionInvalid` if it asks for nothing that the camera sends.
    init(
        _ offer: SessionDescription, video picture: RTPCodec?, isReordered: Bool, audio sound: RTPCodec?
    ) throws(IoTError) {
        let wanted = Self.wanted(offer)
        let pictures = Self.pictures(offer)
        if let picture, !pictures.isEmpty {
            guard let section = pictures.first(where: { $0.codecs.contains(where: picture.canReach) }) else {
                throw Self.refusal(of: picture)
            }
            guard !isReordered else {
                throw Self.reordered
            }
            video = section.mid
        }
        if let sound {
            for section in wanted where section.kind == .audio && audio == nil {
                if section.codecs.contains(where: sound.canReach) {
                    audio = (section.mid, .original)
                } else if section.codecs.contains(where: { $0.format == .opus }) {
                    audio = (section.mid, .opus)
                }
            }
        }
        guard video != nil || audio != nil else {
            throw IoTError(
                .sessionDescriptionInvalid,
                "the offer asks for no media that this camera sends",
                remedy: "offer a recvonly section for video or audio")
        }
    }

    /// The sections in which the browser asks for media.
    private static func wanted(_ offer: SessionDescription) -> [MediaSection] {
        offer.sections.filter { !$0.isRejected && $0.direction.receives }
    }

    /// The sections in which the browser asks for a picture.
    static func pictures(_ offer: SessionDescription) -> [MediaSection] {
        wanted(offer).filter { $0.kind == .video }
    }

    /// RTP carries no decoding times, and browsers do not reorder: they would show the pictures in the order of
    /// arrival.
    static let reordered = IoTError(
        .codecUnsupported,
        "the camera's video has B-frames, which browsers do not reorder over WebRTC",
        remedy: "turn them off in the camera (H.264 profile Baseline, or 0 B-frames), or watch with `iotctl monitor`")

    private static func refusal(of codec: RTPCodec) -> IoTError {
        switch codec.format {
        case .h265:
            IoTError(
                .codecUnsupported,
                "the camera sends H.265, and this browser does not support it over WebRTC",
                remedy: "set the camera to H.264, use a browser with H.265, or watch with `iotctl monitor`")
        default:
            IoTError(
                .codecUnsupported,
                "the camera sends \(codec.encodingName), which the offer does not contain with packetization-mode=1",
                remedy: "use a browser with H.264, or watch with `iotctl monitor`")
        }
    }
}

extension RTPCodec {
    /// Whether our stream can be sent unchanged to a receiver that offered this codec.
    fileprivate func canReach(_ theirs: RTPCodec) -> Bool {
        guard let format, format == theirs.format, clockRate == theirs.clockRate, channels == theirs.channels else {
            return false
        }
        return format != .h264 || theirs.formatParameters["packetization-mode"] == "1"
    }
}
