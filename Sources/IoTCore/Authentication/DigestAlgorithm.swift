import Crypto

/// The hash functions of HTTP's digest authentication (RFC 7616 §6.1). Most cameras and players support only MD5.
package enum DigestAlgorithm: String, Sendable, Hashable, CaseIterable {
    case md5 = "MD5"
    case sha256 = "SHA-256"

    /// Reads the value of `algorithm`, in upper or lower case. `nil` for other algorithms, including `-sess`.
    package init?(name: String) { self.init(rawValue: name.uppercased()) }

    /// The hash of the text's UTF-8 bytes, as lower-case hex digits.
    package func hash(_ text: String) -> String {
        let bytes = Array(text.utf8)
        return switch self {
        case .md5: Hex.encode(Insecure.MD5.hash(data: bytes))
        case .sha256: Hex.encode(SHA256.hash(data: bytes))
        }
    }

    /// HA1: the hash of the user name, the realm and the password (RFC 7616 §3.4.2).
    package func secret(username: String, realm: String, password: String) -> String {
        hash("\(username):\(realm):\(password)")
    }

    /// The response that proves the knowledge of HA1 (RFC 7616 §3.4.1).
    ///
    /// - Parameters:
    ///   - secret: HA1.
    ///   - use: The values of `qop=auth`; `nil` for RFC 2069's form.
    package func response(secret: String, nonce: String, use: DigestNonceUse?, method: String, uri: String) -> String {
        let request = hash("\(method):\(uri)")
        guard let use else { return hash("\(secret):\(nonce):\(request)") }
        return hash("\(secret):\(nonce):\(use.countText):\(use.clientNonce):auth:\(request)")
    }
}

/// One use of a server's nonce with `qop=auth` (RFC 7616 §3.4).
package struct DigestNonceUse: Sendable, Hashable {
    /// The number of uses of this nonce, including this one.
    package var count: UInt32
    package var clientNonce: String

    package init(count: UInt32, clientNonce: String) {
        self.count = count
        self.clientNonce = clientNonce
    }

    /// The value of `nc`: eight hex digits.
    package var countText: String {
        let digits = String(count, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
