import Crypto
import Foundation
public import IoTCore

/// The public half of a release key, which devices trust.
public struct ReleasePublicKey: Sendable, Hashable {
    private let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// - Parameter pem: SubjectPublicKeyInfo, as `pem` and `openssl pkey -pubout` write it.
    public init?(pem: String) {
        guard let bytes = Ed25519Encoding.publicKey(pem: pem) else { return nil }
        self.bytes = bytes
    }

    public var pem: String { Ed25519Encoding.pem(publicKey: bytes) }

    public var fingerprint: KeyFingerprint {
        let hash = SHA256.hash(data: Ed25519Encoding.subjectPublicKeyInfo(bytes))
        guard let fingerprint = KeyFingerprint(bytes: Array(hash)) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return fingerprint
    }

    func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard signature.count == 64, let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else {
            return false
        }
        return key.isValidSignature(signature, for: Data(message))
    }
}
