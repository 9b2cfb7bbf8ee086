import Crypto
import Foundation
public import IoTCore

/// The signing key of a device or of a gateway: Ed25519 (RFC 8032). `description` contains only its fingerprint.
public struct DeviceKey: Sendable, CustomStringConvertible, CustomReflectable {
    private let signing: Curve25519.Signing.PrivateKey
    /// The keys that it has replaced.
    public var succession = KeySuccession()

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

    /// Reads the key from a file. If there is no file, creates a key and writes it there with mode 0600.
    ///
    /// An existing file is never replaced, because users store the key's fingerprint.
    ///
    /// - Throws: `fileFailed` for a file that cannot be used, `invalidConfiguration` for a file that others can read.
    package init(file path: String) throws(IoTError) {
        guard let text = try PrivateFile.text(of: path) else {
            self.init()
            try write(to: path)
            return
        }
        guard let key = DeviceKey(pem: text) else {
            throw IoTError(
                .fileFailed, "\(path) does not contain an Ed25519 key",
                remedy: "restore it from a backup, or remove it; its owner then gets another key, which others must "
                    + "accept")
        }
        self = key
    }

    /// Writes the key, without its succession, with mode 0600.
    ///
    /// - Throws: `fileFailed`; the file is then unchanged.
    package func write(to path: String) throws(IoTError) { try PrivateFile.write(pem, to: path) }

    public var publicKey: DevicePublicKey { DevicePublicKey(signing.publicKey) }

    /// - Returns: 64 bytes.
    /// - Throws: `internalFailure`.
    public func signature(of message: some Collection<UInt8>) throws(IoTError) -> [UInt8] {
        do {
            return Array(try signing.signature(for: Data(message)))
        } catch {
            throw IoTError(.internalFailure, "signing with the device's key failed", underlying: error)
        }
    }

    package var pem: String { Ed25519Encoding.pem(privateKey: Array(signing.rawRepresentation)) }

    public var description: String { "the device key \(publicKey.fingerprint)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
