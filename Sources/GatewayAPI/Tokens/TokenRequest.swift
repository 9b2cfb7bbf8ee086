public import IoTCore

/// `POST /v1/tokens`
public struct TokenRequest: APIRequestBody, Hashable {
    public static let members = ["kind", "name", "user", "devices", "actions", "ttlSeconds"]

    public var kind: TokenKind
    /// `link` and `api`: the token's purpose as text, 1 to 64 characters.
    public var name: String?
    /// The account that the token is for. Default: the caller's account. An enrolment for devices only needs no
    /// account.
    public var user: String?
    /// `api`: the only devices that the token may access. `enrolment`: the devices that join. Ids or names.
    public var devices: [String]?
    /// `api`: the only actions that the token allows.
    public var actions: [DeviceAction]?
    /// Required, except for an enrolment.
    public var ttlSeconds: Int64?

    public init(
        kind: TokenKind, name: String? = nil, user: String? = nil, devices: [String]? = nil,
        actions: [DeviceAction]? = nil,
        ttlSeconds: Int64? = nil
    ) {
        self.kind = kind
        self.name = name
        self.user = user
        self.devices = devices
        self.actions = actions
        self.ttlSeconds = ttlSeconds
    }
}

/// The created token. It is returned only once.
public struct TokenResponse: Codable, Hashable, Sendable {
    public var id: String
    public var kind: TokenKind
    /// `link` and `api`.
    public var token: String?
    /// `enrolment`: an `iotlink://…` string.
    public var enrolment: String?
    /// Seconds since 1970.
    public var expires: Int64

    public init(id: String, kind: TokenKind, token: String? = nil, enrolment: String? = nil, expires: Int64) {
        self.id = id
        self.kind = kind
        self.token = token
        self.enrolment = enrolment
        self.expires = expires
    }
}
