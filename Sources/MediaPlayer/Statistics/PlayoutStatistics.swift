public import IoTCore
public import NIOCore

/// Collects the statistics of a channel, or of one use from the moment that it joined. The owner reports events;
/// `snapshot` returns the current values.
public struct PlayoutStatistics: Sendable {
    private let startedAt: Int64
    private let baseline: PlayoutBaseline?
    private var video: VideoTrackStatistics?
    private var audio: AudioTrackStatistics?
    private var freezes = FreezeMeter()
    private var skew = SkewMeter()
    private var videoRate = RateMeter()
    private var audioRate = RateMeter()
    private var firstShownAt: Int64?
    private var report: JitterBufferReport?

    /// - Parameters:
    ///   - startedAt: when `play` was called.
    ///   - baseline: the channel's earlier counters, for a use that joins a playing channel.
    public init(startedAt: NIODeadline, after baseline: PlayoutBaseline? = nil) {
        self.startedAt = startedAt.playoutMicroseconds
        self.baseline = baseline
    }

    /// A coded frame arrived whole.
    public mutating func frameReceived(_ kind: MediaKind, bytes: Int, at time: NIODeadline) {
        switch kind {
        case .video:
            videoRate.add(bytes: bytes, at: time.playoutMicroseconds)
            withVideo { $0.framesReceived += 1 }
        case .audio:
            audioRate.add(bytes: bytes, at: time.playoutMicroseconds)
            withAudio { $0.framesReceived += 1 }
        }
    }

    /// - Parameter time: how long the decoder worked.
    public mutating func frameDecoded(_ kind: MediaKind, isKeyFrame: Bool = false, time: TimeAmount = .zero) {
        switch kind {
        case .video:
            withVideo {
                $0.framesDecoded += 1
                $0.keyFramesDecoded += isKeyFrame ? 1 : 0
                $0.totalDecodeTime += Self.seconds(time)
            }
        case .audio:
            withAudio { $0.framesDecoded += 1 }
        }
    }

    public mutating func framesDropped(_ kind: MediaKind, _ reason: DropReason, count: Int = 1) {
        switch kind {
        case .video: withVideo { $0.framesDroppedByReason.add(count, reason) }
        case .audio: withAudio { $0.framesDroppedByReason.add(count, reason) }
        }
    }

    /// A picture is shown, or sound is heard.
    ///
    /// - Parameters:
    ///   - senderMicroseconds: when it was captured, on the sender's wall clock; nil if unknown.
    ///   - time: when it is presented; a picture's time is not before that of the previous picture.
    public mutating func framePresented(_ kind: MediaKind, senderMicroseconds: Int64?, at time: NIODeadline) {
        let presented = time.playoutMicroseconds
        switch kind {
        case .video:
            firstShownAt = firstShownAt ?? presented
            freezes.frameShown(at: presented)
            withVideo { $0.framesShown += 1 }
            if let senderMicroseconds { skew.pictureShown(sender: senderMicroseconds, presented: presented) }
        case .audio:
            withAudio { $0.framesHeard += 1 }
            if let senderMicroseconds { skew.soundHeard(sender: senderMicroseconds, presented: presented) }
        }
    }

    /// Nothing is to be shown for a while: the time until the next frame is not a freeze.
    public mutating func presentationPaused() {
        freezes.pause()
    }

    public mutating func pictureSize(width: Int, height: Int) {
        withVideo {
            $0.frameWidth = width
            $0.frameHeight = height
        }
    }

    public mutating func update(_ report: JitterBufferReport) {
        self.report = baseline?.report.map { report.counted(since: $0) } ?? report
    }

    public mutating func update(_ kind: MediaKind, packets: PacketCounters) {
        let packets = baseline?.packets[kind].map { packets.counted(since: $0) } ?? packets
        switch kind {
        case .video: withVideo { $0.packets = packets }
        case .audio: withAudio { $0.packets = packets }
        }
    }

    public mutating func snapshot(at time: NIODeadline) -> ChannelStatistics {
        let now = time.playoutMicroseconds
        var video = video
        if var track = video {
            track.framesDropped = track.framesDroppedByReason.total
            track.framesPerSecond = freezes.framesPerSecond
            track.freezeCount = freezes.freezeCount
            track.totalFreezesDuration = Self.seconds(freezes.totalFreezesMicroseconds)
            track.bitrate = videoRate.bitsPerSecond(at: now)
            video = track
        }
        var audio = audio
        if var track = audio {
            track.framesDropped = track.framesDroppedByReason.total
            track.bitrate = audioRate.bitsPerSecond(at: now)
            audio = track
        }
        return ChannelStatistics(
            elapsedTime: Self.seconds(now - startedAt),
            firstFrameTime: firstShownAt.map { Self.seconds($0 - startedAt) },
            liveEdgeTime: liveEdgeTime.map(Self.seconds),
            tolerance: report.map { Self.seconds($0.tolerance) } ?? 0,
            delay: report.map { Self.seconds($0.delay) } ?? 0,
            jitterBufferDelay: report.map { Self.seconds($0.totalHeld) } ?? 0,
            jitterBufferEmittedCount: report?.emittedFrames ?? 0,
            audioVideoSkew: skew.last.map(Self.seconds),
            maximumAudioVideoSkew: skew.last == nil ? nil : Self.seconds(skew.maximum),
            concealedDuration: report.map { Self.seconds($0.concealed) } ?? 0,
            discontinuityCount: report?.discontinuities ?? 0, stallCount: report?.stalls ?? 0, video: video,
            audio: audio)
    }

    /// From `play` to the live edge, µs. A use that joins a channel at the live edge reaches it with its first picture.
    private var liveEdgeTime: Int64? {
        guard let reached = report?.liveEdgeTime?.playoutMicroseconds else { return nil }
        guard let baseline else { return reached }
        let passed = startedAt - baseline.startedAt
        return reached > passed ? reached - passed : firstShownAt.map { $0 - startedAt }
    }

    private mutating func withVideo(_ change: (inout VideoTrackStatistics) -> Void) {
        var track = video ?? VideoTrackStatistics()
        change(&track)
        video = track
    }

    private mutating func withAudio(_ change: (inout AudioTrackStatistics) -> Void) {
        var track = audio ?? AudioTrackStatistics()
        change(&track)
        audio = track
    }

    private static func seconds(_ microseconds: Int64) -> Double {
        Double(microseconds) / 1_000_000
    }

    private static func seconds(_ amount: TimeAmount) -> Double {
        Double(amount.nanoseconds) / 1_000_000_000
    }
}
