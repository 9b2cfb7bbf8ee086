import IoTCore
import JWTKit

/// The claims of a link token (RFC 7519): who may register at the link, until when.
struct LinkTokenClaims: JWTPayload, Hashable {
    static let kind = "link"

    /// What the token is for; keeps a call token from opening the link.
    var kind = Self.kind
    /// The principal: `u/<access id>` or `d/<device id>`.
    var sub: String
    /// The token's id, which is also its user name at the broker.
    var jti: String
    /// Seconds since 1970.
    var iat: Int64
    var exp: Int64

    func verify(using algorithm: some JWTAlgorithm) async throws {
        guard kind == Self.kind else { throw JWTError.claimVerificationFailure(failedClaim: nil, reason: "kind") }
    }
}

/// The claims of an API token: whose rights a program has at a gateway's HTTP interface. What restricts them is in the
/// hub's store.
struct APITokenClaims: JWTPayload, Hashable {
    static let kind = "api"

    var kind = Self.kind
    /// The account: `u/<access id>`.
    var sub: String
    var jti: String
    var iat: Int64
    var exp: Int64

    func verify(using algorithm: some JWTAlgorithm) async throws {
        guard kind == Self.kind else { throw JWTError.claimVerificationFailure(failedClaim: nil, reason: "kind") }
    }
}

/// The claims of a subscription token: whoever has an account here may bind it to the device with it, as a guest.
struct SubscriptionTokenClaims: JWTPayload, Hashable {
    static let kind = "subscription"

    var kind = Self.kind
    /// The device: `d/<device id>`.
    var sub: String
    /// The account that shares it: `u/<access id>`.
    var from: String
    /// Names of `BindingActions`.
    var actions: [String]
    var jti: String
    var iat: Int64
    var exp: Int64

    func verify(using algorithm: some JWTAlgorithm) async throws {
        guard kind == Self.kind else { throw JWTError.claimVerificationFailure(failedClaim: nil, reason: "kind") }
    }
}

/// The claims of a call token: which user may open what kind of channel to which device, and do what there.
struct CallTokenClaims: JWTPayload, Hashable {
    static let kind = "call"

    var kind = Self.kind
    /// The device: `d/<device id>`.
    var sub: String
    /// The user: `u/<access id>`.
    var from: String
    /// `live`, `monitor`, `playback` or `transmission`.
    var channel: String
    /// `view`, `listen`, `talk`, `playback`, `control`.
    var actions: [String]
    var jti: String
    var iat: Int64
    var exp: Int64

    func verify(using algorithm: some JWTAlgorithm) async throws {
        guard kind == Self.kind else { throw JWTError.claimVerificationFailure(failedClaim: nil, reason: "kind") }
    }
}
