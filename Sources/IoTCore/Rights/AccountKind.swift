/// What an account may do at the hub itself; what it may do with a device is its binding's to say.
public enum AccountKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// Manages users, devices and the tokens of others. Sees a device only when it is bound to it, as everyone.
    case administrator
    case member
    /// For one device, until it ends by itself.
    case temporary
}
