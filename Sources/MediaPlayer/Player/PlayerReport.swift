public import IoTCore
public import NIOCore

/// What a player reports to its observers.
public enum PlayerReport: Sendable {
    case statusChanged(from: PlayerStatus, to: PlayerStatus)

    /// Something failed; a fatal error is followed by `stopping`.
    case error(IoTError, isFatal: Bool)

    /// No new frame could be shown in time. Carries the jitter that the delay is sized for, and the delay.
    case jitterStalled(tolerance: TimeAmount, delay: TimeAmount)
}
