public import IoTCore
public import MediaPlayer

/// The result of testing a camera's source.
public struct SourceReport: Sendable {
    public struct Video: Sendable {
        public var codec: VideoCodec
        /// `nil` if no parameter set could be read.
        public var profile: String?
        public var level: String?
        public var width: Int
        public var height: Int
        /// Frames per second; 0 if unknown.
        public var frameRate: Double
        /// Bits per second.
        public var bitrate: Int?
        /// Seconds between key frames; `nil` if the interval is longer than the measurement.
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
    /// Tracks of the source that the product does not carry, for example `audio mp3`.
    public var unsupportedTracks: [String]
    /// The measured duration on the source's own clock, seconds.
    public var measured: Double
    /// The first picture as a JPEG, if requested.
    public var picture: Snapshot?
}
