public import IoTCore

extension IoTError {
    /// False for what ends one use of the channel, or spoils a few frames, while the player goes on.
    public var stopsPlayer: Bool {
        switch code {
        case .mediaFailed, .videoSizeChanged, .slowReader, .recorderRunning, .recorderUnavailable,
            .encoderUnavailable, .fileFailed, .invalidParameter, .operationNotAllowed, .stateMismatch,
            .actionFailed, .deviceOperationFailed, .channelSendFailed:
            false
        default:
            true
        }
    }
}
