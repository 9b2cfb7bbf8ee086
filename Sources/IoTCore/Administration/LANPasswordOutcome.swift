/// The outcome of a check or a change of a camera's LAN access password: the eight outcomes of the IoT video SDK. All but
/// `null`, `ok` and `changed` are failures, which have error numbers.
public enum LANPasswordOutcome: String, Codable, CaseIterable, Sendable {
    /// The camera has no password.
    case null
    case ok
    case wrong
    case changed
    /// The camera could not store the new password; the old one is still valid.
    case changeFailed
    /// The account may not configure the camera.
    case forbidden
    /// The camera did not answer.
    case timeout
    /// The camera or its hub does not support LAN access passwords.
    case unsupported

    /// - Returns: `nil` for any other failure, such as an unknown device or too many attempts.
    public init?(_ error: IoTError) {
        switch error.code {
        case .lanPasswordWrong: self = .wrong
        case .lanPasswordChangeFailed: self = .changeFailed
        case .lanPasswordUnsupported: self = .unsupported
        case .forbidden, .relationInvalid: self = .forbidden
        case .peerTimeout, .messageTimeout, .operationTimeout: self = .timeout
        default: return nil
        }
    }
}
