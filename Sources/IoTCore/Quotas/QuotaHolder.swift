/// Who holds parts of a shared resource.
public protocol QuotaHolder: Hashable, Sendable {
    /// Whether the holder may take what is reserved, and more than its equal part.
    var isPrivileged: Bool { get }
}

/// Who asks at a gateway.
public enum AccountHolder: QuotaHolder {
    /// The gateway itself, and the owner with the rights of the whole account.
    case owner
    /// Any other account; the owner's too, by a token with limits.
    case account(AccessID)

    public var isPrivileged: Bool { self == .owner }
}
