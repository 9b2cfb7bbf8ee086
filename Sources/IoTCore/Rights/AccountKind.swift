/// What an account may do at the hub itself. Its binding to a device decides what it may do with that device.
public enum AccountKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// Manages users, devices and the tokens of others. Like any account, it sees only the devices that it is bound to.
    case administrator
    case member
    /// For one device, until the account expires.
    case temporary
}
