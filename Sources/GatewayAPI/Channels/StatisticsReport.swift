/// The statistics of a channel. Names are from W3C webrtc-stats where it defines one. Durations are in seconds. Fields
/// that do not apply or are not known yet are absent.
public struct StatisticsReport: Codable, Hashable, Sendable {
    /// When this was measured: ms since 1970.
    public var timestamp: Int64
    public var video: TrackStatistics?
    public var audio: TrackStatistics?

    /// From `play` to the first decoded frame.
    public var firstFrameTime: Double?
    /// From `play` until the shown picture was as recent as the jitter buffer allows.
    public var liveEdgeTime: Double?
    /// The presentation time of the first decoded picture: µs on the source's clock. Raw video begins with this
    /// picture.
    public var firstPicturePts: Int64?
    /// Received bits per second of all tracks, over the last second.
    public var bitrate: Int?
    /// The jitter that the buffer is sized for.
    public var tolerance: Double?
    /// How long a frame is held after the earliest time at which it could be shown.
    public var delay: Double?
    /// How much later than the sound the picture is shown. Negative if it is earlier.
    public var audioVideoSkew: Double?
    /// The time of the newest picture minus that of the newest sound, by the camera's clock.
    public var audioVideoDistance: Double?
    /// From a frame's arrival until it is shown, over the newest frames.
    public var processingTime: ProcessingTimeReport?
    public var currentRoundTripTime: Double?
    /// Jumps of the source's clock and changes of the picture size. A jump in both tracks counts once.
    public var discontinuities: Int?
    /// The sinks that read from this channel, including those that ended recently.
    public var sinks: [SinkReport]?

    public init(timestamp: Int64) {
        self.timestamp = timestamp
    }
}

/// The distribution of a time in seconds.
public struct ProcessingTimeReport: Codable, Hashable, Sendable {
    public var p50: Double
    public var p95: Double

    public init(p50: Double, p95: Double) {
        self.p50 = p50
        self.p95 = p95
    }
}

/// What one reader of a channel received and missed.
public struct SinkReport: Codable, Hashable, Sendable {
    /// `recording`, `rawVideo`, `rawAudio`, `dump`.
    public var kind: String
    public var isOpen: Bool
    /// Pictures or audio frames; coded frames of both for a recording. Includes dropped ones.
    public var frames: Int
    public var framesDropped: Int
    /// The size as it would have been written; for a recording, the coded size.
    public var bytesDropped: Int

    public init(kind: String, isOpen: Bool, frames: Int, framesDropped: Int, bytesDropped: Int) {
        self.kind = kind
        self.isOpen = isOpen
        self.frames = frames
        self.framesDropped = framesDropped
        self.bytesDropped = bytesDropped
    }
}

/// A received track.
public struct TrackStatistics: Codable, Hashable, Sendable {
    // MARK: Arrival
    public var packetsReceived: Int?
    public var bytesReceived: Int?
    /// Packets that never arrived, not even by retransmission.
    public var packetsLost: Int?
    /// Packets that arrived more than once.
    public var packetsDuplicated: Int?
    /// Lost packets that were recovered by retransmission.
    public var retransmittedPacketsReceived: Int?
    public var nackCount: Int?
    public var pliCount: Int?
    /// Interarrival jitter (RFC 3550 §6.4.1).
    public var jitter: Double?
    /// Received bits per second, over the last second.
    public var bitrate: Int?

    // MARK: Decoding
    /// Complete frames received from the network.
    public var framesReceived: Int?
    public var framesDecoded: Int?
    public var keyFramesDecoded: Int?
    /// How long the decoder worked.
    public var totalDecodeTime: Double?
    /// The longest time between two key frames.
    public var keyFrameDistance: Double?
    /// Frames that could not be decoded.
    public var decodeErrors: Int?

    // MARK: Playback
    public var framesShown: Int?
    public var framesDropped: Int?
    /// `framesDropped` by reason: `late`, `incomplete`, `undecodable`, `slowReader` …
    public var framesDroppedByReason: [String: Int]?
    /// Shown frames per second, over the last second.
    public var framesPerSecond: Double?
    public var frameWidth: Int?
    public var frameHeight: Int?
    public var freezeCount: Int?
    public var totalFreezesDuration: Double?

    // MARK: Sound
    public var totalSamplesReceived: Int?
    /// Samples that were generated to replace late or lost ones.
    public var concealedSamples: Int?

    public init() {}
}
