/// What an account may do at the hub.
public enum AccountKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// Manages users, devices and the tokens of others. Sees a device only when bound to it, as everyone.
    case administrator
    case member
    /// For one device and a time; it goes by itself.
    case temporary
}
