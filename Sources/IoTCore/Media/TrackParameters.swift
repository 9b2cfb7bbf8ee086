/// The parameters of a track that a receiver needs before the first frame.
public enum TrackParameters: Sendable, Hashable {
    case video(VideoParameters)
    case audio(AudioParameters)

    public var kind: MediaKind {
        switch self {
        case .video: .video
        case .audio: .audio
        }
    }
}

public enum MediaKind: String, Sendable, Codable, CaseIterable {
    case video
    case audio
}

/// A video track's parameters.
public struct VideoParameters: Sendable, Hashable {
    public var codec: VideoCodec

    /// VPS (H.265 only), SPS and PPS NAL units in that order, each without a length or start code. Empty while unknown.
    /// The bytes of each key frame begin with them, too.
    public var parameterSets: [[UInt8]]

    /// The coded picture's size in pixels after cropping; 0 while unknown.
    public var width: Int
    public var height: Int

    /// Frames a second; 0 while unknown.
    public var frameRate: Double

    /// How many frames can precede a frame in decoding order and follow it in output order (`max_num_reorder_frames`);
    /// 0 without B-frames.
    public var reorderDepth: Int

    /// How far pictures must be turned to be upright.
    public var rotation = PictureRotation.none

    public init(
        codec: VideoCodec, parameterSets: [[UInt8]] = [], width: Int = 0, height: Int = 0, frameRate: Double = 0,
        reorderDepth: Int = 0
    ) {
        self.codec = codec
        self.parameterSets = parameterSets
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.reorderDepth = reorderDepth
    }
}

/// An audio track's parameters.
public struct AudioParameters: Sendable, Hashable {
    public var codec: AudioCodec

    /// Samples per second and channel of the decoded audio.
    public var sampleRate: Int

    public var channels: Int

    /// The AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1) of AAC; empty for other codecs.
    public var audioSpecificConfig: [UInt8]

    public init(codec: AudioCodec, sampleRate: Int, channels: Int, audioSpecificConfig: [UInt8] = []) {
        self.codec = codec
        self.sampleRate = sampleRate
        self.channels = channels
        self.audioSpecificConfig = audioSpecificConfig
    }
}
