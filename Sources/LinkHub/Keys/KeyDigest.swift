import Crypto
import IoTCore
import IoTLink

/// The stored form of a media key: HA1 of RFC 7616 §3.4.2, so that RTSP's digest authentication can be checked too. The
/// user name is the key's id, the password the whole key.
///
/// Many RTSP clients support only MD5, so there is one HA1 for each algorithm. A key has 128 random bits: it cannot be
/// guessed, so no slow hash is needed.
struct KeyDigest: Sendable, Hashable {
    static let realm = "iotvideod"

    /// Lower-case hex digits, as the digest's formula requires.
    let md5: String
    let sha256: String

    init(_ key: MediaKey) {
        md5 = DigestAlgorithm.md5.secret(username: key.id, realm: Self.realm, password: key.text)
        sha256 = DigestAlgorithm.sha256.secret(username: key.id, realm: Self.realm, password: key.text)
    }

    /// - Returns: `nil` if these are not two hashes.
    init?(md5: String, sha256: String) {
        guard md5.utf8.count == 2 * Insecure.MD5.byteCount, sha256.utf8.count == 2 * SHA256.byteCount,
            Hex.decode(md5).map(Hex.encode) == md5, Hex.decode(sha256).map(Hex.encode) == sha256
        else { return nil }
        self.md5 = md5
        self.sha256 = sha256
    }

    /// HA1 for an algorithm.
    func secret(_ algorithm: DigestAlgorithm) -> String {
        switch algorithm {
        case .md5: md5
        case .sha256: sha256
        }
    }

    /// Takes the same time for every key.
    func matches(_ key: MediaKey) -> Bool {
        let (own, other) = (sha256.utf8, KeyDigest(key).sha256.utf8)
        return zip(own, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
