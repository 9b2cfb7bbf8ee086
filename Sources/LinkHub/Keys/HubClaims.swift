import IoTCore
public import IoTLink

/// The claims of a token that the hub signs (RFC 7519).
protocol HubClaims: Codable, Hashable, Sendable {
    static var kind: String { get }

    /// The token's kind. It prevents a token of one kind from being used as another.
    var kind: String { get }
}

extension HubClaims {
    var isOfItsKind: Bool { kind == Self.kind }
}

/// The claims of a link token: which principal may register at the link, and until when.
struct LinkTokenClaims: HubClaims {
    static let kind = "link"

    var kind: String = Self.kind
    /// The principal: `u/<access id>` or `d/<device id>`.
    var sub: String
    /// The token's id, which is also its user name at the broker.
    var jti: String
    /// Seconds since 1970.
    var iat: Int64
    var exp: Int64
}

/// The claims of an API token: which account's rights a program has at a gateway's HTTP interface. The token's
/// restrictions are in the hub's store.
struct APITokenClaims: HubClaims {
    static let kind = "api"

    var kind: String = Self.kind
    /// The account: `u/<access id>`.
    var sub: String
    var jti: String
    var iat: Int64
    var exp: Int64
}

/// The claims of a share token: any account of this hub may use it to bind itself to the device, as a guest.
struct SubscriptionTokenClaims: HubClaims {
    static let kind = "subscription"

    var kind: String = Self.kind
    /// The device: `d/<device id>`.
    var sub: String
    /// The account that shares it: `u/<access id>`.
    var from: String
    /// Names of `BindingActions`.
    var actions: [String]
    var jti: String
    var iat: Int64
    var exp: Int64
}

/// The claims of the token in a binding's result. The bound account can subscribe to the device with it. It grants
/// nothing beyond the binding, and no other account can use it.
struct AccessTokenClaims: HubClaims {
    static let kind = "access"

    var kind: String = Self.kind
    /// The device: `d/<device id>`.
    var sub: String
    /// The account: `u/<access id>`.
    var to: String
    /// When the binding was made, ms since 1970. A later binding of the same account is another one.
    var since: Int64
    var iat: Int64
    var exp: Int64
}

/// The properties are in IoTLink, because devices read them too.
extension CallTokenClaims: HubClaims {
    static var kind: String { tokenKind }
    var kind: String { Self.tokenKind }

    public init(from decoder: any Decoder) throws {
        let members = LinkMembers(try JSONValue(from: decoder), of: Self.tokenKind, failure: .callTokenInvalid)
        self = try CallTokenClaims(members)
    }

    public func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }
}

extension LANGrantClaims: HubClaims {
    static var kind: String { tokenKind }
    var kind: String { Self.tokenKind }

    public init(from decoder: any Decoder) throws {
        let members = LinkMembers(try JSONValue(from: decoder), of: Self.tokenKind, failure: .callTokenInvalid)
        self = try LANGrantClaims(members)
    }

    public func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }
}
