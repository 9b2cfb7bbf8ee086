import Crypto
import Foundation
import IoTCore
import IoTLink
import JWTKit

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
            try PrivateFile.write(EdDSA.PrivateKey(backing: signing).pemRepresentation + "\n", to: path)
            return
        }
        do {
            let key = try EdDSA.PrivateKey(pem: text.trimmingCharacters(in: .whitespacesAndNewlines))
            signing = try Curve25519.Signing.PrivateKey(rawRepresentation: key.rawRepresentation)
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
}
