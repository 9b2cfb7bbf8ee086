import IoTCore

/// A client's side of authentication: answers a server's challenges with one user's credentials (RFC 2326 §D.1.2).
package struct RequestAuthentication: Sendable {
    private enum Scheme: Sendable, Hashable {
        case basic
        case digest(HTTPDigest, count: UInt32)
    }

    private let credentials: BasicCredentials?
    private var scheme: Scheme?
    private var staleCount = 0
    /// Whether the server has accepted the current nonce.
    private var isAccepted = false

    /// The largest number of stale nonces between two accepted requests. A server can call every nonce stale.
    private static let maximumStaleCount = 4

    /// - Parameter credentials: `nil` without a login.
    package init(_ credentials: BasicCredentials?) {
        self.credentials = credentials
    }

    /// The value of `Authorization` for the next request; `nil` if the server has not asked for one.
    ///
    /// - Parameter clientNonce: Random text, used with `qop=auth`.
    package mutating func authorization(method: RTSPMethod, uri: String, clientNonce: String) -> String? {
        guard let credentials else { return nil }
        switch scheme {
        case nil: return nil
        case .basic: return credentials.text
        case .digest(let digest, let count):
            scheme = .digest(digest, count: count &+ 1)
            return digest.authorization(
                username: credentials.username, password: credentials.password, method: method.rawValue, uri: uri,
                clientNonce: clientNonce, count: count &+ 1)
        }
    }

    /// Takes the challenges of a 401 response.
    ///
    /// - Parameter wasAuthorized: Whether the refused request carried an authorization.
    /// - Returns: Whether to repeat the request; false if the credentials are wrong or absent.
    package mutating func takeChallenges(_ challenges: [String], wasAuthorized: Bool) -> Bool {
        guard credentials != nil else { return false }
        if let offered = HTTPDigest.best(challenges) {
            let (earlier, wasAccepted) = (scheme, isAccepted)
            scheme = .digest(offered, count: 0)
            isAccepted = false
            guard wasAuthorized, case .digest(let used, _)? = earlier else { return true }
            // Quirk 4: Axis M5525 replaces an old nonce without `stale` (ngraziano/SharpRTSP#126). If no nonce has been
            // accepted yet, a new nonce means that the password is wrong. The request is then not repeated, because
            // cameras lock an account after a few wrong passwords.
            staleCount += 1
            return offered.nonce != used.nonce && (offered.isStale || wasAccepted)
                && staleCount <= Self.maximumStaleCount
        }
        guard challenges.contains(where: BasicCredentials.isChallenge) else { return false }
        scheme = .basic
        return !wasAuthorized
    }

    /// Call this when the server accepts a request with an authorization.
    package mutating func succeeded() {
        staleCount = 0
        isAccepted = true
    }

    /// Whether there are no credentials with which to answer a challenge.
    package var lacksCredentials: Bool { credentials == nil }
}
