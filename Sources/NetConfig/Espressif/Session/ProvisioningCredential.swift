/// The secret with which a client and a device authenticate each other. Descriptions omit it.
public enum ProvisioningCredential: Sendable, CustomStringConvertible, CustomReflectable {
    /// Security 1: the proof of possession, as printed on the device; empty for a device without one.
    case possession(String)
    /// Security 2.
    case password(user: String, password: String)

    /// 1 or 2.
    public var security: Int {
        switch self {
        case .possession: 1
        case .password: 2
        }
    }

    public var description: String { "a credential of security \(security)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The same secret, as a device stores it.
public enum DeviceCredential: Sendable, CustomStringConvertible, CustomReflectable {
    case possession(String)
    case verifier(SRPVerifier)

    public var security: Int {
        switch self {
        case .possession: 1
        case .verifier: 2
        }
    }

    public var description: String { "a credential of security \(security)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
