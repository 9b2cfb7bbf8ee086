public import NIOCore

/// Options of a `JitterBuffer`. The defaults suit a camera that is watched live.
public struct JitterBufferOptions: Sendable {
    /// False releases every frame as soon as it is complete, to be shown at once: no delay, and no alignment of sound
    /// and picture. Default true.
    public var isEnabled: Bool

    /// A fixed delay after the minimum transit time of the window, instead of the measured delay. Default nil.
    public var fixedDelay: TimeAmount?

    /// Added to the tolerance; also how long before its due time a frame goes to the decoder. Default 10 ms.
    public var margin: TimeAmount

    /// How early a frame may go to the decoder when the buffer runs anyway: a frame and its neighbours in the other
    /// track then need one wake-up instead of several. Used only while the tolerance is not higher than this value.
    /// Concealed sound is reported up to four times this value later. Default 0.
    public var coalescing: TimeAmount

    /// The tolerance before anything is measured. Default 50 ms.
    public var initialTolerance: TimeAmount

    /// The largest tolerance; a longer delay is a stall, not jitter. Default 2 s.
    public var maximumTolerance: TimeAmount

    /// How long an arrival counts for the transit times and the tolerance. Default 10 s.
    public var window: TimeAmount

    /// The fraction by which the tolerance may fall per second; it may always fall by 5 ms per second. Default 0.02.
    public var toleranceDecay: Double

    /// The largest change of the playing speed while the delay shrinks or a track is re-aligned. Default 0.05.
    public var maximumSlew: Double

    /// The target time to play the initial burst of old frames up to the live edge. The speed is at most 64 times the
    /// normal speed. Default 0.2 s.
    public var catchUpDuration: TimeAmount

    /// A larger step in a track's time is a discontinuity. Default 1 s.
    public var discontinuityThreshold: TimeAmount

    /// The time without a new frame after which `stalled` is reported. Default 500 ms.
    public var stallThreshold: TimeAmount

    /// The minimum time between two requests for a key frame. Default 1 s.
    public var keyFrameRequestInterval: TimeAmount

    /// The maximum number of held frames of one track. If exceeded, the oldest goes to the decoder at once and is not
    /// shown. Default 512.
    public var maximumFrames: Int

    /// The maximum number of held bytes of one track, with the same policy. Default 32 MiB.
    public var maximumBytes: Int

    public init(
        isEnabled: Bool = true, fixedDelay: TimeAmount? = nil, margin: TimeAmount = .milliseconds(10),
        coalescing: TimeAmount = .zero, initialTolerance: TimeAmount = .milliseconds(50),
        maximumTolerance: TimeAmount = .seconds(2),
        window: TimeAmount = .seconds(10), toleranceDecay: Double = 0.02, maximumSlew: Double = 0.05,
        catchUpDuration: TimeAmount = .milliseconds(200), discontinuityThreshold: TimeAmount = .seconds(1),
        stallThreshold: TimeAmount = .milliseconds(500), keyFrameRequestInterval: TimeAmount = .seconds(1),
        maximumFrames: Int = 512, maximumBytes: Int = 32 << 20
    ) {
        self.isEnabled = isEnabled
        self.fixedDelay = fixedDelay
        self.margin = margin
        self.coalescing = coalescing
        self.initialTolerance = initialTolerance
        self.maximumTolerance = maximumTolerance
        self.window = window
        self.toleranceDecay = toleranceDecay
        self.maximumSlew = maximumSlew
        self.catchUpDuration = catchUpDuration
        self.discontinuityThreshold = discontinuityThreshold
        self.stallThreshold = stallThreshold
        self.keyFrameRequestInterval = keyFrameRequestInterval
        self.maximumFrames = maximumFrames
        self.maximumBytes = maximumBytes
    }
}
