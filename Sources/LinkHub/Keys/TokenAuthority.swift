import Crypto
import Foundation
import IoTCore
import IoTLink

/// Signs and checks the hub's tokens: JWTs (RFC 7519) with EdDSA (RFC 8037 §3.1), in the compact form of RFC 7515 §7.1.
struct TokenAuthority: Sendable {
    /// A longer text cannot be a token of this hub.
    static let maximumSize = 4_096

    private struct Header: Decodable { let alg: String }

    let key: HubKey

    func sign(_ claims: some HubClaims) throws(IoTError) -> String {
        do {
            let header = Base64URL.encode(Array(#"{"alg":"EdDSA","typ":"JWT"}"#.utf8))
            let input = try header + "." + Base64URL.encode(JSONEncoder().encode(claims))
            return try input + "." + Base64URL.encode(key.signing.signature(for: Data(input.utf8)))
        } catch {
            throw IoTError(.internalFailure, "a token could not be signed", underlying: error)
        }
    }

    /// Checks form, signature and kind; the caller checks the other claims. `nil` if this hub did not sign the token,
    /// or signed it as another kind.
    func verify<Claims: HubClaims>(_ token: String, as type: Claims.Type) -> Claims? {
        guard token.utf8.count <= Self.maximumSize else { return nil }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64URL.decode(parts[2]),
            key.signing.publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)),
            let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            // Another algorithm's name is refused, although the signature fits (RFC 8725 §3.1).
            (try? JSONDecoder().decode(Header.self, from: Data(header)))?.alg == "EdDSA",
            let claims = try? JSONDecoder().decode(type, from: Data(payload)), claims.isOfItsKind
        else { return nil }
        return claims
    }
}
