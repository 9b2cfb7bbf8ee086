import Crypto
import Foundation
public import IoTCore

/// The public keys of a hub. With them a gateway rejects a token that the hub did not sign, without a request to the
/// hub, and a device verifies the tokens of calls.
public struct TokenKeys: Sendable {
    /// The claims of a signed token. Only the hub knows whether it is still valid.
    public struct Claims: Sendable, Equatable {
        public var kind: String
        /// `u/…` or `d/…`.
        public var subject: Principal
        /// Seconds since 1970.
        public var expires: Int64

        public init(kind: String, subject: Principal, expires: Int64) {
            self.kind = kind
            self.subject = subject
            self.expires = expires
        }
    }

    private let keys: [Curve25519.Signing.PublicKey]

    private init(_ keys: [Curve25519.Signing.PublicKey]) {
        self.keys = keys
    }

    /// No keys, so that no token is accepted: for a hub whose keys cannot be used here.
    public static let none = TokenKeys([])

    /// Reads a JWK Set (RFC 7517 §5) and skips keys that are not Ed25519 (RFC 8037 §2).
    ///
    /// - Returns: `nil` when no key can be used.
    public init?(jwkSet: JSONValue) {
        keys = (jwkSet["keys"]?.arrayValue ?? []).prefix(16).compactMap { key in
            guard key["kty"]?.stringValue == "OKP", key["crv"]?.stringValue == "Ed25519",
                let bytes = key["x"]?.stringValue.flatMap(Base64URL.decode)
            else { return nil }
            return try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)
        }
        if keys.isEmpty { return nil }
    }

    /// Returns the claims of a token that one of the keys signed, otherwise `nil`. Takes time linear in its size.
    public func claims(of token: String) -> Claims? {
        guard let payload = payload(of: token), let kind = payload["kind"]?.stringValue,
            let expires = payload["exp"]?.integerValue,
            let subject = payload["sub"]?.stringValue.flatMap(Principal.init)
        else { return nil }
        return Claims(kind: kind, subject: subject, expires: expires)
    }

    /// Returns the payload of a token that one of the keys signed, otherwise `nil`.
    public func payload(of token: String) -> JSONValue? {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64URL.decode(Substring(parts[2])) else { return nil }
        let signed = Data(token.utf8.prefix(parts[0].count + 1 + parts[1].count))
        // The signature is verified before the payload is parsed (RFC 7515 §5.2).
        guard keys.contains(where: { $0.isValidSignature(signature, for: signed) }),
            let payload = Base64URL.decode(Substring(parts[1]))
        else { return nil }
        return try? JSONValue(parsing: payload)
    }
}
