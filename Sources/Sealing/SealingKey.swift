import Crypto
import IoTCore

/// A key of 256 bits that files are encrypted with. `description` contains only its id.
package struct SealingKey: Sendable, CustomStringConvertible, CustomReflectable {
    private static let byteCount = 32

    private let secret: SymmetricKey
    /// Says in a file which key it needs. It tells nothing about the key.
    package let id: SealingKeyID

    package init() {
        self.init(SymmetricKey(size: .bits256))
    }

    /// - Parameter text: 64 hexadecimal digits, as `text` writes them; a line break may follow.
    package init?(text: String) {
        let digits = text.last?.isNewline == true ? text.dropLast() : text[...]
        guard digits.utf8.count == Self.byteCount * 2, let bytes = Hex.decode(digits) else { return nil }
        self.init(SymmetricKey(data: bytes))
    }

    private init(_ secret: SymmetricKey) {
        self.secret = secret
        id = SealingKeyID(
            bytes: HKDF<SHA256>.deriveKey(
                inputKeyMaterial: secret, info: Array("iotvideod sealing key id".utf8),
                outputByteCount: SealingKeyID.byteCount
            ).withUnsafeBytes { Array($0) })
    }

    package var text: String { secret.withUnsafeBytes { Hex.encode($0) } }

    /// The key of one file.
    ///
    /// - Parameter salt: random bytes that are in the file.
    func fileKey(salt: [UInt8]) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, salt: salt, info: Array("iotvideod sealed file 1".utf8),
            outputByteCount: Self.byteCount)
    }

    package var description: String { "the key \(id)" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Which key a file needs.
package struct SealingKeyID: Sendable, Hashable, CustomStringConvertible {
    static let byteCount = 8

    let bytes: [UInt8]

    package var description: String { Hex.encode(bytes) }
}
