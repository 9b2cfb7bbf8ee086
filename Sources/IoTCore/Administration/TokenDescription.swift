/// One token that the hub has issued. The token itself is returned only once, when it is created.
public struct TokenDescription: Codable, Hashable, Sendable {
    public var id: String
    public var kind: TokenKind
    /// The name that its creator chose.
    public var name: String?
    /// The owner: `u/<access id>` or `d/<device id>`; `nil` for an enrolment without a named principal.
    public var principal: String?
    /// Seconds since 1970.
    public var issued: Int64
    public var expires: Int64
    /// The devices that the token is limited to; `nil`: all devices of the account.
    public var devices: [String]?
    /// The actions that the token is limited to; `nil`: all actions of the account.
    public var actions: [DeviceAction]?
    /// True for a token that a daemon made for itself and renews.
    public var isLocal: Bool?
    /// API tokens only: seconds since 1970, to the minute; `nil` if the token was never used.
    public var lastUse: Int64?
    /// The id of the API token that created this token. This token ends with that one.
    public var parent: String?

    public init(
        id: String, kind: TokenKind, name: String? = nil, principal: String?, issued: Int64, expires: Int64,
        devices: [String]? = nil, actions: [DeviceAction]? = nil, isLocal: Bool? = nil, lastUse: Int64? = nil,
        parent: String? = nil
    ) {
        self.id = id
        self.kind = kind
        self.name = name
        self.principal = principal
        self.issued = issued
        self.expires = expires
        self.devices = devices
        self.actions = actions
        self.isLocal = isLocal
        self.lastUse = lastUse
        self.parent = parent
    }
}
