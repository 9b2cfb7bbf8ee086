public import IoTCore
public import NIOCore

/// What a playout has to say: a `JitterBuffer`, or a `PacedPlayout`.
public enum PlayoutOutput: Sendable {
    /// A frame for the decoder, in decoding order. Its picture or sound is due at `presentAt`. A late one is
    /// decoded (and recorded) but neither shown nor heard.
    case release(MediaKind, MediaFrame, presentAt: NIODeadline, isLate: Bool)

    /// A frame will never come. After a lost picture no frame is released until the next key frame.
    case lost(MediaKind)

    /// The source is to deliver its frames up to this pts, µs.
    case want(through: Int64)

    /// All is presented that the source has.
    case finished

    /// The sender should make a key frame.
    case requestKeyFrame

    /// The sound that should begin `at` has not come in time: this much of it, in µs, is to be concealed.
    case conceal(durationMicroseconds: Int64, at: NIODeadline)

    /// The next released frame of this track does not follow the one before it.
    case discontinuity(MediaKind, DiscontinuityReason)

    /// Nothing new could be shown for `JitterBufferOptions.stallThreshold`; with the tolerance and delay of now.
    case stalled(tolerance: TimeAmount, delay: TimeAmount)

    /// A frame can be shown again after `stalled`.
    case resumed

    /// The live edge has been reached: what is shown is as new as the delay allows.
    case reachedLiveEdge

    /// Call `handleTimeout(at:)` then, unless something else comes first.
    case timeout(NIODeadline)
}

/// Why a frame does not follow the one before it.
public enum DiscontinuityReason: String, Sendable, Codable, CaseIterable {
    /// The track's time jumped while the receiver's went on: a loop's restart, a reconnected source.
    case timeJump

    /// Time went on at both ends, and what lay between did not come.
    case gap

    /// The sender marked the frame.
    case marked

    /// The picture's size changed.
    case sizeChanged

    /// The sender's time stood still, so that every frame came too late to be waited for.
    case clockStalled
}
