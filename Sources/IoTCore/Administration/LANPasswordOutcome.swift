/// How a check or a change of a camera's LAN access password ended: the eight outcomes of the SDK that the gateway
/// follows. `wrong` and those after `changed` are failures, each with a number of its own.
public enum LANPasswordOutcome: String, Codable, CaseIterable, Sendable {
    /// The camera has no password.
    case null
    case ok
    case wrong
    case changed
    /// The camera could not store the new one; the old one stays.
    case changeFailed
    /// The account may not configure the camera.
    case forbidden
    /// The camera did not answer.
    case timeout
    /// The camera, or its hub, does not know LAN access passwords.
    case unsupported

    /// - Returns: `nil` for a failure that is none of the eight: an unknown device, too many attempts, and so on.
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
