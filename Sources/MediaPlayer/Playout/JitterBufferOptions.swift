public import NIOCore

/// How a `JitterBuffer` plays. The defaults suit a camera that is watched live.
public struct JitterBufferOptions: Sendable {
    /// False hands every frame on the moment it is complete, to be shown at once: no delay, no alignment of sound
    /// and picture. Default true.
    public var isEnabled: Bool

    /// A fixed delay beyond the earliest possible time, in place of the measured one. Default nil: measured.
    public var fixedDelay: TimeAmount?

    /// What is added to the tolerance, and how long before it is due a frame goes to the decoder. Default 10 ms.
    public var margin: TimeAmount

    /// How much earlier than that a frame may go to the decoder when the buffer is awake anyway, while the tolerance is
    /// no more than this: a frame and its neighbours of the other track then need one wake-up in place of several.
    /// Concealed sound is told of by up to four times this later. Default 0.
    public var coalescing: TimeAmount

    /// The tolerance before anything was measured. Default 50 ms.
    public var initialTolerance: TimeAmount

    /// The largest tolerance; what comes later than this is a stall and not jitter. Default 2 s.
    public var maximumTolerance: TimeAmount

    /// How long an arrival counts. Default 10 s.
    public var window: TimeAmount

    /// The share of itself that the tolerance may lose in a second. Default 0.02.
    public var toleranceDecay: Double

    /// The largest change of playing speed while the delay shrinks or a track is re-aligned. Default 0.05.
    public var maximumSlew: Double

    /// How long a burst of old frames at the start takes to play until the live edge is reached, as long as that
    /// needs no more than 32 times the speed. Default 0.8 s.
    public var catchUpDuration: TimeAmount

    /// A step in a track's time beyond this is a discontinuity. Default 1 s.
    public var discontinuityThreshold: TimeAmount

    /// How long nothing new is shown before `stalled` is reported. Default 500 ms.
    public var stallThreshold: TimeAmount

    /// The least time between two requests for a key frame. Default 1 s.
    public var keyFrameRequestInterval: TimeAmount

    /// Frames held for one track. When there are more, the oldest goes to the decoder at once and is not shown.
    /// Default 512.
    public var maximumFrames: Int

    /// Bytes held for one track, with the same policy. Default 32 MiB.
    public var maximumBytes: Int

    public init(
        isEnabled: Bool = true, fixedDelay: TimeAmount? = nil, margin: TimeAmount = .milliseconds(10),
        coalescing: TimeAmount = .zero, initialTolerance: TimeAmount = .milliseconds(50),
        maximumTolerance: TimeAmount = .seconds(2),
        window: TimeAmount = .seconds(10), toleranceDecay: Double = 0.02, maximumSlew: Double = 0.05,
        catchUpDuration: TimeAmount = .milliseconds(800), discontinuityThreshold: TimeAmount = .seconds(1),
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
