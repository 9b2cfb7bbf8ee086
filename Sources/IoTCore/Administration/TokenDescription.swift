/// One token that the hub has given; the token itself is told when it is made, and never again.
public struct TokenDescription: Codable, Hashable, Sendable {
    public var id: String
    public var kind: TokenKind
    /// As its maker called it.
    public var name: String?
    /// Whose it is: `u/<access id>` or `d/<device id>`; `nil` for an enrolment that names nobody.
    public var principal: String?
    /// Seconds since 1970.
    public var issued: Int64
    public var expires: Int64
    /// The only devices that it is good for; `nil`: all of the account's.
    public var devices: [String]?
    /// The only actions that it is good for; `nil`: all of the account's.
    public var actions: [DeviceAction]?
    /// A daemon's own, renewed by itself.
    public var isLocal: Bool?
    /// An API token's, to a minute: seconds since 1970; `nil` before it was used.
    public var lastUse: Int64?
    /// The API token that it was made with, by its id: it ends with that one.
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
