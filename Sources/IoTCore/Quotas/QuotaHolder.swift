/// A holder of shares of a resource.
public protocol QuotaHolder: Hashable, Sendable {
    /// Whether the holder may use the reserve and may exceed the share of one holder.
    var isPrivileged: Bool { get }
}

/// The account that makes a request to a gateway.
public enum AccountHolder: QuotaHolder {
    /// The gateway itself, and the owner with all rights of the account.
    case owner
    /// Any other account, and the owner's account with a limited token.
    case account(AccessID)

    public var isPrivileged: Bool { self == .owner }
}
