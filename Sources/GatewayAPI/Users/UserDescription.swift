/// One account of the hub.
public struct UserDescription: Codable, Hashable, Sendable {
    public var accessId: String
    public var kind: AccountKind
    /// Temporary accounts only: the id of their device.
    public var device: String?
    /// Temporary accounts only: when it goes, in seconds since 1970.
    public var expires: Int64?
    /// When it was made: ms since 1970; `nil` when the hub does not know.
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

/// `GET /v1/users`
public struct UserList: Codable, Hashable, Sendable {
    public var users: [UserDescription]

    public init(users: [UserDescription]) {
        self.users = users
    }
}
