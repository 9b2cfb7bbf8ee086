/// One channel's statistics at one moment, as the HTTP API returns them.
///
/// Names and units are those of W3C webrtc-stats where it defines the same value: seconds, bytes, frames, packets. A
/// field that is not yet known is absent.
public struct ChannelStatistics: Sendable, Codable, Hashable {
    /// Seconds since `play`.
    public var elapsedTime: Double

    /// From `play` to the first picture shown, seconds.
    public var firstFrameTime: Double?

    /// From `play` to the live edge, seconds.
    public var liveEdgeTime: Double?

    /// The jitter that the delay is sized for, seconds.
    public var tolerance: Double

    /// How long a frame is held beyond its earliest possible time, seconds.
    public var delay: Double

    /// How long all emitted frames together were held, seconds.
    public var jitterBufferDelay: Double

    public var jitterBufferEmittedCount: Int

    /// The picture's delay against the sound, seconds; negative if the picture is early.
    public var audioVideoSkew: Double?
    public var maximumAudioVideoSkew: Double?

    /// The time of the newest picture minus that of the newest sound, by the sender's clock: seconds.
    public var audioVideoDistance: Double?

    /// From a frame's arrival until it is shown.
    public var processingTime: ProcessingTime?

    /// The duration of sound that did not come in time, seconds.
    public var concealedDuration: Double

    public var discontinuityCount: Int
    public var stallCount: Int

    public var video: VideoTrackStatistics?
    public var audio: AudioTrackStatistics?

    /// The oldest first; only the newest ended sinks are kept.
    public var sinks: [SinkStatistics] = []
}

/// The distribution of a time, in seconds, over the newest frames.
public struct ProcessingTime: Sendable, Codable, Hashable {
    public var p50: Double
    public var p95: Double

    public init(p50: Double, p95: Double) {
        self.p50 = p50
        self.p95 = p95
    }
}

/// What one local reader got, and what it lost because it was too slow.
public struct SinkStatistics: Sendable, Codable, Hashable {
    public var kind: SinkKind
    public var isOpen: Bool

    /// Pictures, audio frames, or for a recording the coded frames of both; including dropped ones.
    public var frames: Int
    public var framesDropped: Int

    /// The size as it would have been written; for a recording the coded size.
    public var bytesDropped: Int
}

/// Packet counters since the start of the channel.
public struct PacketCounters: Sendable, Codable, Hashable {
    public var packetsReceived = 0

    /// Expected − received; duplicates can make it negative (RFC 3550 §6.4.1).
    public var packetsLost = 0
    public var packetsDuplicated = 0
    public var retransmittedPacketsReceived = 0
    public var bytesReceived = 0
    public var nackCount = 0
    public var pliCount = 0

    /// Interarrival jitter, seconds (RFC 3550 §6.4.1).
    public var jitter = 0.0

    public init() {}
}

public struct VideoTrackStatistics: Sendable, Codable, Hashable {
    public var packets = PacketCounters()
    public var framesReceived = 0
    public var framesDecoded = 0
    public var keyFramesDecoded = 0

    /// Seconds that the decoder worked.
    public var totalDecodeTime = 0.0

    /// The longest time between two key frames, seconds.
    public var keyFrameDistance: Double?

    /// The sum of all reasons.
    public var framesDropped = 0
    public var framesDroppedByReason = DropCounters()
    public var framesShown = 0
    public var framesPerSecond = 0.0
    public var freezeCount = 0

    /// Seconds.
    public var totalFreezesDuration = 0.0

    /// Coded bits per second over the last two seconds.
    public var bitrate = 0.0
    public var frameWidth: Int?
    public var frameHeight: Int?

    public init() {}
}

public struct AudioTrackStatistics: Sendable, Codable, Hashable {
    public var packets = PacketCounters()
    public var framesReceived = 0
    public var framesDecoded = 0
    public var framesDropped = 0
    public var framesDroppedByReason = DropCounters()
    public var framesHeard = 0

    /// Coded bits per second over the last two seconds.
    public var bitrate = 0.0

    public init() {}
}

/// Why a frame was not presented.
public enum DropReason: String, Sendable, Codable, CaseIterable {
    /// It came, or was decoded, after it was due.
    case late
    /// It never came, or a frame that it references did not.
    case lost
    /// A local reader was too slow for it.
    case slowReader
    /// It could not be decoded.
    case corrupt
}

public struct DropCounters: Sendable, Codable, Hashable {
    public var late = 0
    public var lost = 0
    public var slowReader = 0
    public var corrupt = 0

    public init() {}

    public var total: Int { late + lost + slowReader + corrupt }

    public mutating func add(_ count: Int, _ reason: DropReason) {
        switch reason {
        case .late: late += count
        case .lost: lost += count
        case .slowReader: slowReader += count
        case .corrupt: corrupt += count
        }
    }
}
