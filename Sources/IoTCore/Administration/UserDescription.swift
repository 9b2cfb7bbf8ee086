/// One account of the hub.
public struct UserDescription: Codable, Hashable, Sendable {
    public var accessId: String
    public var kind: AccountKind
    /// Temporary accounts only: the id of their device.
    public var device: String?
    /// Temporary accounts only: when the account expires, in seconds since 1970.
    public var expires: Int64?
    /// When the account was created, in ms since 1970; `nil` if the hub does not know.
    public var created: Int64?

    public init(
        accessId: String, kind: AccountKind, device: String? = nil, expires: Int64? = nil, created: Int64? = nil
    ) {
        self.accessId = accessId
        self.kind = kind
        self.device = device
        self.expires = expires
        self.created = created
    }
}

/// The account that was created.
public struct UserResponse: Codable, Hashable, Sendable {
    public var accessId: String
    public var kind: AccountKind

    public init(accessId: String, kind: AccountKind) {
        self.accessId = accessId
        self.kind = kind
    }
}

public struct TemporaryUserResponse: Codable, Hashable, Sendable {
    public var accessId: String
    /// Seconds since 1970.
    public var expires: Int64
    /// The token with which the account's user joins. It is returned only here.
    public var enrolment: String?

    public init(accessId: String, expires: Int64, enrolment: String? = nil) {
        self.accessId = accessId
        self.expires = expires
        self.enrolment = enrolment
    }
}
