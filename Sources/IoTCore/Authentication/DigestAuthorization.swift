/// The answer to a digest challenge: the content of `Authorization: Digest …` (RFC 7616 §3.4).
package struct DigestAuthorization: Sendable, Hashable {
    package var username: String
    package var realm: String
    package var nonce: String
    package var uri: String
    package var algorithm: DigestAlgorithm
    package var opaque: String?
    /// `nil` in RFC 2069's form, without `qop`.
    package var use: DigestNonceUse?
    /// Lower-case hex digits.
    package var response: String

    package init(
        username: String, realm: String, nonce: String, uri: String, algorithm: DigestAlgorithm, opaque: String?,
        use: DigestNonceUse?, response: String
    ) {
        self.username = username
        self.realm = realm
        self.nonce = nonce
        self.uri = uri
        self.algorithm = algorithm
        self.opaque = opaque
        self.use = use
        self.response = response
    }

    /// Reads a value of `Authorization`. `nil` for another scheme, an unknown algorithm or `qop`, or a missing part.
    package init?(_ text: String) {
        guard let parameters = AuthenticationParameters(text, scheme: "Digest"),
            let username = parameters["username"], let realm = parameters["realm"], let nonce = parameters["nonce"],
            let uri = parameters["uri"], let response = parameters["response"],
            let algorithm = DigestAlgorithm(name: parameters["algorithm"] ?? "MD5")
        else { return nil }
        var use: DigestNonceUse?
        if let quality = parameters["qop"] {
            guard quality.lowercased() == "auth", let digits = parameters["nc"], (1...8).contains(digits.utf8.count),
                let count = UInt32(digits, radix: 16), let clientNonce = parameters["cnonce"]
            else { return nil }
            use = DigestNonceUse(count: count, clientNonce: clientNonce)
        }
        self.init(
            username: username, realm: realm, nonce: nonce, uri: uri, algorithm: algorithm,
            opaque: parameters["opaque"], use: use, response: response.lowercased())
    }

    /// The value of `Authorization`.
    package var text: String {
        let quoted = AuthenticationParameters.quoted
        var text =
            "Digest username=\(quoted(username)), realm=\(quoted(realm)), nonce=\(quoted(nonce)), "
            + "uri=\(quoted(uri)), algorithm=\(algorithm.rawValue), response=\(quoted(response))"
        if let opaque { text += ", opaque=\(quoted(opaque))" }
        if let use { text += ", qop=auth, nc=\(use.countText), cnonce=\(quoted(use.clientNonce))" }
        return text
    }

    /// Whether the response proves the knowledge of the password, in constant time.
    ///
    /// The caller checks realm, nonce, nonce count and URI.
    ///
    /// - Parameter secret: HA1 for `algorithm`.
    package func isProof(of secret: String, method: String) -> Bool {
        let expected = algorithm.response(secret: secret, nonce: nonce, use: use, method: method, uri: uri)
        guard expected.utf8.count == response.utf8.count else { return false }
        return zip(expected.utf8, response.utf8).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
