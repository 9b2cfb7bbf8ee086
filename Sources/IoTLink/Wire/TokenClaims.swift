public import IoTCore

/// The claims that a principal needs from its own token (a JWT, RFC 7519). Only the hub checks the signature.
public struct TokenClaims: Sendable, Equatable, CustomStringConvertible {
    /// `jti`: the token's id, and the user name at the broker.
    public let id: String
    /// `exp`: seconds since 1970; `nil` for a token that does not expire.
    public let expires: Int64?
    /// `iat`: seconds since 1970.
    public let issued: Int64?
    /// The token itself; never printed.
    let text: String

    /// Throws 25026 for a text that is not a JWT or has no `jti`.
    public init(parsing token: String) throws(IoTError) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]),
            let claims = try? JSONValue(parsing: payload)
        else { throw IoTError(.tokenRejected, "the access token is not a JWT: get a new one") }
        guard let id = claims["jti"]?.stringValue, RequestID.isValid(id) else {
            throw IoTError(.tokenRejected, "the access token has no id (jti): get a new one")
        }
        self.id = id
        self.expires = claims["exp"]?.integerValue
        self.issued = claims["iat"]?.integerValue
        text = token
    }

    public var description: String { "token \(id)" }
}
