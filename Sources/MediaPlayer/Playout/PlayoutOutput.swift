public import IoTCore
public import NIOCore

/// The output of a playout: of a `JitterBuffer` or a `PacedPlayout`.
public enum PlayoutOutput: Sendable {
    /// A frame for the decoder, in decoding order. Its picture or sound is due at `presentAt`. A late frame is
    /// decoded (and recorded) but not shown or heard.
    case release(MediaKind, MediaFrame, presentAt: NIODeadline, isLate: Bool)

    /// A frame will never come. After a lost picture, no picture is released until the next key frame.
    case lost(MediaKind)

    /// The source should deliver its frames up to this pts, µs.
    case want(through: Int64)

    /// Everything that the source has is presented.
    case finished

    /// The sender should make a key frame.
    case requestKeyFrame

    /// The sound that should start `at` has not come in time: conceal this duration, in µs.
    case conceal(durationMicroseconds: Int64, at: NIODeadline)

    /// The next released frame of this track does not follow the one before it.
    case discontinuity(MediaKind, DiscontinuityReason)

    /// No new frame could be shown for the stall threshold. Carries the current tolerance and delay.
    case stalled(tolerance: TimeAmount, delay: TimeAmount)

    /// A frame can be shown again after `stalled`.
    case resumed

    /// The live edge has been reached: what is shown is as new as the delay allows.
    case reachedLiveEdge

    /// Call `handleTimeout(at:)` at this time, unless a newer `.timeout` replaces it.
    case timeout(NIODeadline)
}

/// Why a frame does not follow the one before it.
public enum DiscontinuityReason: String, Sendable, Codable, CaseIterable {
    /// The track's time jumped while the receiver's continued: a loop restarted, or a source reconnected.
    case timeJump

    /// Time continued at both ends, but the frames between did not come.
    case gap

    /// The sender marked the frame.
    case marked

    /// The picture's size changed.
    case sizeChanged

    /// The sender's clock paused: every frame was later than the maximum tolerance.
    case clockStalled
}
