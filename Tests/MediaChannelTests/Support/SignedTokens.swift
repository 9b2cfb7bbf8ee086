import Crypto
import Foundation
import IoTCore
import IoTLink

/// A hub's signing key, and the tokens signed with it.
struct SignedTokens {
    private let key = Curve25519.Signing.PrivateKey()

    /// The keys that the hub gives its devices.
    var keys: TokenKeys {
        get throws {
            let key: JSONValue = [
                "kty": "OKP", "crv": "Ed25519", "x": .string(Base64URL.encode(key.publicKey.rawRepresentation)),
            ]
            guard let keys = TokenKeys(jwkSet: ["keys": [key]]) else { throw IoTError(.internalFailure) }
            return keys
        }
    }

    func sign(_ claims: JSONValue) throws -> String {
        let input = [#"{"alg":"EdDSA","typ":"JWT"}"#, claims.jsonText].map { Base64URL.encode($0.utf8) }
            .joined(separator: ".")
        return try input + "." + Base64URL.encode(key.signature(for: Data(input.utf8)))
    }
}
