import COpenSSL
import Crypto
import IoTCore
import IoTLink

/// The hub's Ed25519 key, which signs every token. It is stored in `keys/signing.pem` (PKCS #8), created on the first
/// start.
struct HubKey: Sendable {
    let signing: Curve25519.Signing.PrivateKey

    /// - Throws: `fileFailed` for a file that cannot be used, `invalidConfiguration` for one that others may read. The
    ///   key is never replaced, because that would end every token.
    init(dataDirectory: String) throws(IoTError) {
        let directory = dataDirectory + "/keys"
        try PrivateDirectory.make(directory)
        let path = directory + "/signing.pem"
        guard let text = try PrivateFile.text(of: path) else {
            signing = Curve25519.Signing.PrivateKey()
            try PrivateFile.write(Self.pem(signing), to: path)
            return
        }
        do {
            signing = try Self.key(pem: text)
        } catch {
            throw IoTError(
                .fileFailed, "\(path) does not contain an Ed25519 key",
                remedy: "restore it from a backup, or remove it to end every token",
                underlying: error)
        }
    }

    /// For tests, and for keys that are stored elsewhere.
    init(signing: Curve25519.Signing.PrivateKey) {
        self.signing = signing
    }

    /// The public half as the `x` of a JWK (RFC 8037 §2).
    var publicText: String { Base64URL.encode(signing.publicKey.rawRepresentation) }

    /// The JWK Set (RFC 7517 §5) with which gateways check signatures.
    var publicSet: JSONValue {
        let key: JSONValue = [
            "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "x": .string(publicText),
        ]
        return ["keys": [key]]
    }

    /// Reads an Ed25519 key in PKCS #8 (RFC 8410 §7).
    static func key(pem: String) throws -> Curve25519.Signing.PrivateKey {
        let key = try PEM.key(pem)
        defer { EVP_PKEY_free(key) }
        var bytes = [UInt8](repeating: 0, count: 32)
        var count = bytes.count
        guard EVP_PKEY_get_id(key) == EVP_PKEY_ED25519, EVP_PKEY_get_raw_private_key(key, &bytes, &count) == 1
        else { throw PEM.failure("read an Ed25519 key") }
        return try Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
    }

    static func pem(_ key: Curve25519.Signing.PrivateKey) throws(IoTError) -> String {
        let bytes = Array(key.rawRepresentation)
        guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, bytes, bytes.count) else {
            throw PEM.failure("take an Ed25519 key")
        }
        defer { EVP_PKEY_free(key) }
        return try PEM.text { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }
}
