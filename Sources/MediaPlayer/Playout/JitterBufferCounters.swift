import IoTCore
public import NIOCore

/// The counters of a `JitterBuffer`.
struct JitterBufferCounters {
    var startedAt: Int64 = 0
    var retimedAt: Int64?
    var firstFrameAt: Int64?
    var liveEdgeAt: Int64?
    var emittedFrames = 0
    var waitedMicroseconds: Int64 = 0
    var lateFrames = 0
    var lostFrames = 0
    var skippedFrames = 0
    var keyFrameRequests = 0
    var concealedMicroseconds: Int64 = 0
    private(set) var discontinuities = 0
    private var newestDiscontinuity: (kinds: Set<MediaKind>, at: Int64) = ([], 0)
    var stalls = 0

    /// Counts a break of the source once, although it appears in each track at that track's next frame.
    mutating func countDiscontinuity(_ kind: MediaKind, at now: Int64) {
        let isSame = now - newestDiscontinuity.at < 2_000_000 && !newestDiscontinuity.kinds.isEmpty
        if isSame, newestDiscontinuity.kinds.insert(kind).inserted { return }
        newestDiscontinuity = ([kind], now)
        discontinuities += 1
    }

    mutating func emit(waited: Int64) {
        emittedFrames += 1
        waitedMicroseconds += max(0, waited)
    }
}

/// A summary of a `JitterBuffer` so far.
public struct JitterBufferReport: Sendable {
    public var tolerance: TimeAmount
    public var delay: TimeAmount

    /// From the start of play to the first picture released to be shown.
    public var firstFrameTime: TimeAmount?

    /// From the start of play to the live edge.
    public var liveEdgeTime: TimeAmount?

    /// Frames released to the decoders, and the total time for which they were held.
    public var emittedFrames: Int
    public var totalHeld: TimeAmount

    /// Frames currently held.
    public var heldFrames: Int

    /// Frames released too late to be shown or heard, including old sound in a burst.
    public var lateFrames: Int

    /// Frames that never came.
    public var lostFrames: Int

    /// Frames that could not be decoded because a key frame was missing.
    public var skippedFrames: Int
    public var keyFrameRequests: Int
    public var concealed: TimeAmount
    /// Breaks of the source, each counted once.
    public var discontinuities: Int
    public var stalls: Int
}

extension JitterBuffer {
    public var report: JitterBufferReport {
        JitterBufferReport(
            tolerance: currentTolerance, delay: currentDelay,
            firstFrameTime: counters.firstFrameAt.map { .microseconds($0 - counters.startedAt) },
            liveEdgeTime: counters.liveEdgeAt.map { .microseconds($0 - counters.startedAt) },
            emittedFrames: counters.emittedFrames, totalHeld: .microseconds(counters.waitedMicroseconds),
            heldFrames: tracks.reduce(0) { $0 + $1.held.count }, lateFrames: counters.lateFrames,
            lostFrames: counters.lostFrames, skippedFrames: counters.skippedFrames,
            keyFrameRequests: counters.keyFrameRequests, concealed: .microseconds(counters.concealedMicroseconds),
            discontinuities: counters.discontinuities, stalls: counters.stalls)
    }
}
