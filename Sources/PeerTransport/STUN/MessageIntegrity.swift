import COpenSSL

/// The keyed hash of STUN messages (RFC 8489 §14.5), and its keys (§9.1.1, §9.2.2).
enum MessageIntegrity {
    /// The hashes of MESSAGE-INTEGRITY and MESSAGE-INTEGRITY-SHA256 (RFC 8489 §14.5, §14.6).
    enum Algorithm: Sendable {
        case sha1
        case sha256

        var byteCount: Int { self == .sha1 ? 20 : 32 }

        var attributeNumber: UInt16 {
            self == .sha1 ? STUNAttribute.Number.messageIntegrity : STUNAttribute.Number.messageIntegritySHA256
        }
    }

    static func authenticationCode(of bytes: [UInt8], key: [UInt8], algorithm: Algorithm = .sha1) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        HMAC(algorithm == .sha1 ? EVP_sha1() : EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &code, &length)
        return Array(code.prefix(Int(length)))
    }

    /// Compares in constant time.
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }

    /// The short-term key: the password's bytes. ICE passwords are ASCII, so they need no preparation.
    static func shortTermKey(password: String) -> [UInt8] {
        Array(password.utf8)
    }

    /// The algorithm for the long-term key (RFC 8489 §18.5).
    enum PasswordAlgorithm: UInt16, Sendable {
        case md5 = 1
        case sha256 = 2
    }

    /// The long-term key: the hash of `user:realm:password`. All three must be prepared already (RFC 8265).
    static func longTermKey(
        username: String, realm: STUNText, password: String, algorithm: PasswordAlgorithm = .md5
    ) -> [UInt8] {
        let text = Array("\(username):".utf8) + realm.bytes + Array(":\(password)".utf8)
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        EVP_Digest(text, text.count, &digest, &length, algorithm == .md5 ? EVP_md5() : EVP_sha256(), nil)
        return Array(digest.prefix(Int(length)))
    }
}
