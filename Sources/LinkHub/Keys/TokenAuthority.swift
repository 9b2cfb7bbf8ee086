import Crypto
import Foundation
import IoTCore
import IoTLink
import JWTKit

/// Signs and checks the hub's tokens: JWTs with EdDSA (RFC 8037 §3.1).
///
/// jwt-kit encodes and decodes them. The signature is made here, because jwt-kit's own signing is asynchronous and the
/// hub decides each request in one step.
struct TokenAuthority: Sendable {
    /// A longer text cannot be a token of this hub.
    static let maximumSize = 4_096

    let key: HubKey

    func sign(_ claims: some HubClaims) throws(IoTError) -> String {
        do {
            let header = Base64URL.encode(Array(#"{"alg":"EdDSA","typ":"JWT"}"#.utf8))
            let payload = try DefaultJWTSerializer().serialize(claims)
            let input = header + "." + String(decoding: payload, as: UTF8.self)
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
            let parsed = try? DefaultJWTParser().parse(Data(token.utf8), as: type), parsed.header.alg == "EdDSA",
            parsed.payload.isOfItsKind
        else { return nil }
        return parsed.payload
    }
}
