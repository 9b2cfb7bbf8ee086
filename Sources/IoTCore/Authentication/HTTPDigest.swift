/// One challenge of HTTP's digest authentication (RFC 7616 §3.3), which RTSP and ONVIF use too.
package struct HTTPDigest: Hashable, Sendable {
    package var realm: String
    package var nonce: String
    package var opaque: String?
    package var algorithm: DigestAlgorithm
    /// Whether the server supports `qop=auth`; otherwise RFC 2069's form is used.
    package var hasQuality: Bool
    /// Whether the previous request failed only because its nonce was too old (RFC 7616 §3.3).
    package var isStale: Bool

    package init(
        realm: String, nonce: String, opaque: String? = nil, algorithm: DigestAlgorithm = .md5,
        hasQuality: Bool = false, isStale: Bool = false
    ) {
        self.realm = realm
        self.nonce = nonce
        self.opaque = opaque
        self.algorithm = algorithm
        self.hasQuality = hasQuality
        self.isStale = isStale
    }

    /// The best offer of a server.
    ///
    /// - Parameter challenges: The values of `WWW-Authenticate`.
    package static func best(_ challenges: [String]) -> HTTPDigest? {
        let known = challenges.compactMap { HTTPDigest($0) }
        return known.first { $0.algorithm == .sha256 } ?? known.first
    }

    /// Reads a value of `WWW-Authenticate`. `nil` for another scheme, or an unknown algorithm.
    package init?(_ challenge: String) {
        guard let parameters = AuthenticationParameters(challenge, scheme: "Digest"),
            let realm = parameters["realm"], let nonce = parameters["nonce"]
        else { return nil }
        var algorithm = DigestAlgorithm.md5
        if let name = parameters["algorithm"] {
            guard let known = DigestAlgorithm(name: name) else { return nil }
            algorithm = known
        }
        let qualities = parameters["qop"]?.split(separator: ",").map { $0.filter { $0 != " " }.lowercased() }
        guard qualities?.contains("auth") ?? true else { return nil }
        self.init(
            realm: realm, nonce: nonce, opaque: parameters["opaque"], algorithm: algorithm,
            hasQuality: qualities != nil, isStale: parameters["stale"]?.lowercased() == "true")
    }

    /// The value of `WWW-Authenticate`.
    package var text: String {
        // `qop` is quoted, `algorithm` and `stale` are not (RFC 7616 §3.3).
        var text =
            "Digest realm=\(AuthenticationParameters.quoted(realm)), "
            + "nonce=\(AuthenticationParameters.quoted(nonce))"
        if let opaque { text += ", opaque=\(AuthenticationParameters.quoted(opaque))" }
        text += ", algorithm=\(algorithm.rawValue)"
        if hasQuality { text += ", qop=\"auth\"" }
        if isStale { text += ", stale=true" }
        return text
    }

    /// The value of `Authorization` for a request.
    ///
    /// - Parameters:
    ///   - uri: The URI of the request line.
    ///   - count: The number of uses of this nonce, including this one.
    package func authorization(
        username: String, password: String, method: String, uri: String, clientNonce: String, count: UInt32 = 1
    ) -> String {
        let secret = algorithm.secret(username: username, realm: realm, password: password)
        let use = hasQuality ? DigestNonceUse(count: count, clientNonce: clientNonce) : nil
        return DigestAuthorization(
            username: username, realm: realm, nonce: nonce, uri: uri, algorithm: algorithm, opaque: opaque, use: use,
            response: algorithm.response(secret: secret, nonce: nonce, use: use, method: method, uri: uri)
        ).text
    }
}
