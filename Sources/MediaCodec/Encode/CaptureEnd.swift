public import IoTCore

/// How a program's source of sound or pictures has ended.
public enum CaptureEnd: Sendable {
    /// Everything was taken.
    case finished
    case failed(IoTError)
}
