import IoTCore
public import IoTLink
import JWTKit

/// What a token of the hub's says (RFC 7519).
protocol HubClaims: JWTPayload, Hashable {
    static var kind: String { get }

    /// What the token is for; keeps a token of one kind from being used as another.
    var kind: String { get }
}

extension HubClaims {
    var isOfItsKind: Bool { kind == Self.kind }

    /// For jwt-kit's own verifier; `TokenAuthority` looks itself.
    func verify(using algorithm: some JWTAlgorithm) async throws {
        guard isOfItsKind else { throw JWTError.claimVerificationFailure(failedClaim: nil, reason: "kind") }
    }
}

/// The claims of a link token: who may register at the link, until when.
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

/// The claims of an API token: whose rights a program has at a gateway's HTTP interface. What restricts them is in the
/// hub's store.
struct APITokenClaims: HubClaims {
    static let kind = "api"

    var kind: String = Self.kind
    /// The account: `u/<access id>`.
    var sub: String
    var jti: String
    var iat: Int64
    var exp: Int64
}

/// The claims of a subscription token: whoever has an account here may bind it to the device with it, as a guest.
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

/// The claims of the token of a binding's result: the account that is bound may subscribe to the device with it. It gives
/// nothing that the binding does not, and is good for no other account.
struct AccessTokenClaims: HubClaims {
    static let kind = "access"

    var kind: String = Self.kind
    /// The device: `d/<device id>`.
    var sub: String
    /// The account: `u/<access id>`.
    var to: String
    /// Since when they are bound, ms since 1970: a binding that is made anew is another.
    var since: Int64
    var iat: Int64
    var exp: Int64
}

/// Its members are named in IoTLink, because devices read them too.
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
