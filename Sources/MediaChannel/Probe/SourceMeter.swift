import IoTCore
import MediaCodec

/// Measures a source's frames. A value without a clock: it uses the frames' own times.
struct SourceMeter: Sendable {
    /// The duration on the source's clock that is always enough, µs. If the key frame interval is longer, it is
    /// reported as unknown.
    static let longestSpan: Int64 = 10_000_000
    /// The minimum duration for meaningful rates, µs.
    private static let shortestSpan: Int64 = 2_000_000
    /// The number of key frames that give two distances.
    private static let keyFrames = 3

    private var video = StreamMeter()
    private var audio = StreamMeter()
    private var order = PictureOrder()
    private var newestPicture: Int64?
    private var keyTimes: [Int64] = []
    private var span: (first: Int64, last: Int64)?
    private let hasVideo: Bool
    private static let greatestTime: Int64 = 1 << 60

    init(hasVideo: Bool) {
        self.hasVideo = hasVideo
    }

    mutating func take(_ frame: MediaFrame) {
        // A file's times cannot be trusted: implausible times are ignored, so that differences do not overflow.
        guard (-Self.greatestTime...Self.greatestTime).contains(frame.pts) else { return }
        span = (min(span?.first ?? frame.pts, frame.pts), max(span?.last ?? frame.pts, frame.pts))
        switch frame.kind {
        case .audio: audio.add(frame)
        case .video:
            video.add(frame)
            if frame.isKeyFrame, keyTimes.count < Self.keyFrames { keyTimes.append(frame.pts) }
            let isLate = newestPicture.map { frame.pts < $0 } ?? false
            if !isLate { newestPicture = frame.pts }
            _ = order.note(isLate: isLate)
        }
    }

    /// The measured duration, µs.
    var measured: Int64 { span.map { $0.last - $0.first } ?? 0 }

    var isEnough: Bool {
        if measured >= Self.longestSpan { return true }
        guard measured >= Self.shortestSpan else { return false }
        return !hasVideo || keyTimes.count >= Self.keyFrames
    }

    /// The longest observed time between two key frames, in seconds; `nil` if only one came.
    var keyFrameDistance: Double? {
        zip(keyTimes, keyTimes.dropFirst()).map { Double($1 - $0) / 1_000_000 }.max()
    }

    func isReordered(depth: Int) -> Bool { order.isReordered(depth: depth) }

    var frameRate: Double? { video.frameRate }
    var videoBitrate: Int? { video.bitrate }
    var audioBitrate: Int? { audio.bitrate }
}
