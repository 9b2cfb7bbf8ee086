import Crypto
import Foundation
import IoTCore

/// The key that signs releases: Ed25519 (RFC 8032). It is never at the hub nor on a device. `description` contains only
/// the fingerprint.
public struct ReleaseKey: Sendable, CustomStringConvertible, CustomReflectable {
    private let signing: Curve25519.Signing.PrivateKey

    public init() {
        signing = Curve25519.Signing.PrivateKey()
    }

    /// - Parameter pem: PKCS #8, as `pem` and `openssl genpkey -algorithm ed25519` write it.
    public init?(pem: String) {
        guard let bytes = Ed25519Encoding.privateKey(pem: pem),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
        else { return nil }
        signing = key
    }

    public var publicKey: ReleasePublicKey { ReleasePublicKey(bytes: Array(signing.publicKey.rawRepresentation)) }

    /// - Returns: 64 bytes.
    /// - Throws: `internalFailure`.
    func signature(of message: [UInt8]) throws(IoTError) -> [UInt8] {
        do {
            return Array(try signing.signature(for: Data(message)))
        } catch {
            throw IoTError(.internalFailure, "signing with the release key failed", underlying: error)
        }
    }

    public var pem: String { Ed25519Encoding.pem(privateKey: Array(signing.rawRepresentation)) }

    public var description: String { "the release key \(publicKey.fingerprint)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
