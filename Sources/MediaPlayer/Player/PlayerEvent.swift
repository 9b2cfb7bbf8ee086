package import IoTCore

/// What a player reports.
package enum PlayerEvent: Sendable {
    /// With the reason when the player stopped by itself.
    case statusChanged(PlayerStatus, reason: IoTError?)
    /// The frame of this pts (µs) does not follow the one before it; with the picture's parameters from there on.
    case discontinuity(MediaKind, DiscontinuityReason, pts: Int64, VideoParameters?)
    /// Something failed and the player goes on; `use` names whom alone it concerns.
    case warning(IoTError, use: String?)
    /// The last event.
    case ended(IoTError?)
}
