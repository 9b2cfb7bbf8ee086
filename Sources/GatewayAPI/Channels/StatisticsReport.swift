/// How a channel fares. Names are those of W3C webrtc-stats where it has one; every duration is in seconds.
/// A field that does not apply, or is not yet known, is absent.
public struct StatisticsReport: Codable, Hashable, Sendable {
    /// When this was measured: ms since 1970.
    public var timestamp: Int64
    public var video: TrackStatistics?
    public var audio: TrackStatistics?

    /// From `play` to the first decoded frame.
    public var firstFrameTime: Double?
    /// From `play` until the picture shown was as new as the jitter buffer allows.
    public var liveEdgeTime: Double?
    /// The first decoded picture's own time: µs on the source's clock. Raw video begins with this picture.
    public var firstPicturePts: Int64?
    /// Received bits a second over the last second, all tracks.
    public var bitrate: Int?
    /// The jitter that the buffer is sized for.
    public var tolerance: Double?
    /// How long a frame is held beyond its earliest possible time.
    public var delay: Double?
    /// How much later than the sound the picture is shown; negative: earlier.
    public var audioVideoSkew: Double?
    public var currentRoundTripTime: Double?
    /// Breaks of the source's clock, and changed picture sizes; one that both tracks show counts once.
    public var discontinuities: Int?
    /// What is read from this channel, and was lately.
    public var sinks: [SinkReport]?

    public init(timestamp: Int64) {
        self.timestamp = timestamp
    }
}

/// What one reader of a channel was given, and was too slow for.
public struct SinkReport: Codable, Hashable, Sendable {
    /// `recording`, `rawVideo`, `rawAudio`.
    public var kind: String
    public var isOpen: Bool
    /// Pictures, frames of sound, or of a recording coded frames of both; those dropped included.
    public var frames: Int
    public var framesDropped: Int
    /// As they would have been written; of a recording as they were coded.
    public var bytesDropped: Int

    public init(kind: String, isOpen: Bool, frames: Int, framesDropped: Int, bytesDropped: Int) {
        self.kind = kind
        self.isOpen = isOpen
        self.frames = frames
        self.framesDropped = framesDropped
        self.bytesDropped = bytesDropped
    }
}

/// One received track.
public struct TrackStatistics: Codable, Hashable, Sendable {
    // MARK: Arrival
    public var packetsReceived: Int?
    public var bytesReceived: Int?
    /// Packets that never came, retransmission included.
    public var packetsLost: Int?
    /// Packets that came a second time.
    public var packetsDuplicated: Int?
    /// Lost packets that a retransmission brought.
    public var retransmittedPacketsReceived: Int?
    public var nackCount: Int?
    public var pliCount: Int?
    /// Interarrival jitter (RFC 3550 §6.4.1).
    public var jitter: Double?
    /// Received bits a second over the last second.
    public var bitrate: Int?

    // MARK: Decoding
    /// Whole frames out of the network.
    public var framesReceived: Int?
    public var framesDecoded: Int?
    public var keyFramesDecoded: Int?
    /// Frames that could not be decoded.
    public var decodeErrors: Int?

    // MARK: Showing
    public var framesShown: Int?
    public var framesDropped: Int?
    /// `framesDropped` by reason: `late`, `incomplete`, `undecodable`, `slowReader` …
    public var framesDroppedByReason: [String: Int]?
    /// Shown frames a second over the last second.
    public var framesPerSecond: Double?
    public var frameWidth: Int?
    public var frameHeight: Int?
    public var freezeCount: Int?
    public var totalFreezesDuration: Double?

    // MARK: Sound
    public var totalSamplesReceived: Int?
    /// Samples that were made up for late or lost ones.
    public var concealedSamples: Int?

    public init() {}
}
