import Crypto
import Foundation

/// AES-256-GCM with a nonce that counts up with each message in either direction (security 2, patch version 1).
struct NonceCounterCipher: Sendable {
    static let nonceSize = 12

    private let key: SymmetricKey
    private let session: [UInt8]
    /// `nil` after the last value: then the session cannot send any more messages.
    private var counter: UInt32?

    /// - Parameters:
    ///   - sessionKey: The key is its first 32 bytes.
    ///   - nonce: 8 bytes for the session, and the first counter, big-endian.
    init?(sessionKey: [UInt8], nonce: [UInt8]) {
        guard sessionKey.count >= 32, nonce.count == Self.nonceSize else { return nil }
        key = SymmetricKey(data: sessionKey.prefix(32))
        session = Array(nonce.prefix(8))
        counter = nonce.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func seal(_ bytes: [UInt8]) -> [UInt8]? {
        guard let nonce = nextNonce(), let box = try? AES.GCM.seal(bytes, using: key, nonce: nonce) else { return nil }
        return Array(box.ciphertext) + Array(box.tag)
    }

    /// `nil` if the message was not sealed as the session's next one; the counter then stays.
    mutating func open(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 16 else { return nil }
        var next = self
        guard let nonce = next.nextNonce(),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce, ciphertext: bytes.dropLast(16), tag: bytes.suffix(16)),
            let plain = try? AES.GCM.open(box, using: key)
        else { return nil }
        self = next
        return Array(plain)
    }

    private mutating func nextNonce() -> AES.GCM.Nonce? {
        guard let counter else { return nil }
        let bytes = session + withUnsafeBytes(of: counter.bigEndian) { Array($0) }
        self.counter = counter == .max ? nil : counter + 1
        return try? AES.GCM.Nonce(data: bytes)
    }
}
