import IoTCore

/// Credentials for a TURN server that shares a secret with their issuer (coturn's `use-auth-secret`,
/// draft-uberti-behave-turn-rest): the server needs no user database, and a leaked credential soon expires.
public struct TimeLimitedCredential: Sendable, Hashable {
    /// `expiry:user`, where `expiry` is in seconds since 1970.
    public let username: String

    /// Base64 of the HMAC-SHA-1 of the user name, keyed by the secret.
    public let credential: String

    /// - Parameters:
    ///   - secret: the server's `static-auth-secret`.
    ///   - user: for the server's log; may be empty.
    ///   - expiry: seconds since 1970 after which the server refuses the credential. An existing allocation continues.
    public init(secret: String, user: String, expiry: Int64) {
        username = user.isEmpty ? "\(expiry)" : "\(expiry):\(user)"
        credential = Base64.encode(
            MessageIntegrity.authenticationCode(of: Array(username.utf8), key: Array(secret.utf8)))
    }
}
