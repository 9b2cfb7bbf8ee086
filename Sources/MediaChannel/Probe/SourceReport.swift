public import IoTCore
public import MediaPlayer

/// What a trial of a camera's source has found.
public struct SourceReport: Sendable {
    public struct Video: Sendable {
        public var codec: VideoCodec
        /// `nil` while no parameter set could be read.
        public var profile: String?
        public var level: String?
        public var width: Int
        public var height: Int
        /// Frames a second; 0 while unknown.
        public var frameRate: Double
        /// Bits a second.
        public var bitrate: Int?
        /// Seconds between key frames; `nil` when it is longer than what was measured.
        public var keyFrameDistance: Double?
        public var hasBFrames: Bool
        /// Whether the first picture could be decoded here.
        public var isDecoded: Bool
        public var browsers: BrowserPlayback
    }

    public struct Audio: Sendable {
        public var codec: AudioCodec
        public var sampleRate: Int
        public var channels: Int
        public var bitrate: Int?
        public var browsers: BrowserPlayback
    }

    public var video: Video?
    public var audio: Audio?
    /// What the source has and the product does not carry: `audio mp3`.
    public var unsupportedTracks: [String]
    /// Seconds of the source's own clock.
    public var measured: Double
    /// The first picture as a JPEG, where it was asked for.
    public var picture: Snapshot?
}
