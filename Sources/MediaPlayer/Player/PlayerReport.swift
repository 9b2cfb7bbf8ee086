public import IoTCore
public import NIOCore

/// What a player tells those who watch it.
public enum PlayerReport: Sendable {
    case statusChanged(from: PlayerStatus, to: PlayerStatus)

    /// Something failed; a fatal error is followed by `stopping`.
    case error(IoTError, isFatal: Bool)

    /// Nothing new could be shown in time: the jitter that the delay was sized for, and the delay.
    case jitterStalled(tolerance: TimeAmount, delay: TimeAmount)
}
