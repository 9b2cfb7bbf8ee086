import Crypto
import Foundation
public import IoTCore

/// The public half of a device's signing key: Ed25519 (RFC 8032), encoded as SubjectPublicKeyInfo (RFC 8410 §4).
public struct DevicePublicKey: Sendable, Hashable {
    /// 32 bytes.
    private let bytes: [UInt8]

    init(_ key: Curve25519.Signing.PublicKey) {
        bytes = Array(key.rawRepresentation)
    }

    /// - Parameter subjectPublicKeyInfo: 44 bytes.
    /// - Returns: `nil` if it is not an Ed25519 key.
    public init?(subjectPublicKeyInfo: [UInt8]) {
        guard let bytes = Ed25519Encoding.publicKey(subjectPublicKeyInfo: subjectPublicKeyInfo),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)
        else { return nil }
        self.init(key)
    }

    /// Parses `text`.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 60, let bytes = Base64.decode(text) else { return nil }
        self.init(subjectPublicKeyInfo: bytes)
    }

    public var subjectPublicKeyInfo: [UInt8] { Ed25519Encoding.subjectPublicKeyInfo(bytes) }

    /// The SubjectPublicKeyInfo in base64, as between the first and the last line of a PEM file.
    public var text: String { Base64.encode(subjectPublicKeyInfo) }

    public var fingerprint: KeyFingerprint {
        guard let fingerprint = KeyFingerprint(bytes: Array(SHA256.hash(data: subjectPublicKeyInfo))) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return fingerprint
    }

    /// Whether the device's key made this signature of the message.
    public func isValid(_ signature: [UInt8], of message: some Collection<UInt8>) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else { return false }
        return key.isValidSignature(signature, for: Data(message))
    }
}
