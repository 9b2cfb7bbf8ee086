package import IoTCore

/// Events that a player reports.
package enum PlayerEvent: Sendable {
    /// The reason is set if the player stopped by itself, and while it loads after it has played (25134).
    case statusChanged(PlayerStatus, reason: IoTError?)
    /// The frame with this pts (µs) does not follow the one before it; with the video parameters from there on.
    case discontinuity(MediaKind, DiscontinuityReason, pts: Int64, VideoParameters?)
    /// Each stage is reported once for each track.
    case stageReached(StageEntry)
    /// Something failed and the player continues; `use` names the only use that is affected, if any.
    case warning(IoTError, use: String?)
    /// The last event.
    case ended(IoTError?)
}
