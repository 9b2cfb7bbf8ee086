public import IoTCore

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
    /// What `after` must say for the next page; `nil` at the list's end.
    public var next: String?

    public init(users: [UserDescription], next: String? = nil) {
        self.users = users
        self.next = next
    }

    public init(_ page: Page<UserDescription>) {
        self.init(users: page.elements, next: page.next)
    }
}
