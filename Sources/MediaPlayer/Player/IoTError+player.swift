public import IoTCore

extension IoTError {
    /// False for errors that end only one use of the channel, or damage a few frames, while the player continues.
    public var stopsPlayer: Bool {
        switch code {
        case .mediaFailed, .videoSizeChanged, .slowReader, .recorderRunning, .recorderUnavailable,
            .encoderUnavailable, .fileFailed, .invalidParameter, .operationNotAllowed, .stateMismatch,
            .actionFailed, .deviceOperationFailed, .channelSendFailed, .mediaInterrupted:
            false
        default:
            true
        }
    }
}
