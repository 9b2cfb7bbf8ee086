import COpenSSL
import IoTCore

/// AES-256 in counter mode with a position that continues from message to message, in both directions (security 1).
struct KeyStream: Sendable {
    private let key: [UInt8]
    private let start: [UInt8]
    private var position = 0

    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - start: the first counter block, 16 bytes.
    init?(key: [UInt8], start: [UInt8]) {
        guard key.count == 32, start.count == 16 else { return nil }
        self.key = key
        self.start = start
    }

    /// Encrypts, or decrypts.
    mutating func apply(_ bytes: [UInt8]) -> [UInt8] {
        let skipped = position % 16
        // The part of the block that earlier messages used is encrypted again, and discarded.
        let input = [UInt8](repeating: 0, count: skipped) + bytes
        var output = [UInt8](repeating: 0, count: input.count)
        var length: Int32 = 0
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        guard EVP_EncryptInit_ex(context, EVP_aes_256_ctr(), nil, key, counter(plus: position / 16)) == 1,
            EVP_EncryptUpdate(context, &output, &length, input, Int32(input.count)) == 1, Int(length) == input.count
        else { preconditionFailure("OpenSSL has no AES-256-CTR") }
        position += bytes.count
        return Array(output.dropFirst(skipped))
    }

    /// A number of 128 bits that wraps.
    private func counter(plus blocks: Int) -> [UInt8] {
        var counter = start
        var carry = UInt64(blocks)
        for place in counter.indices.reversed() where carry > 0 {
            carry += UInt64(counter[place])
            counter[place] = UInt8(truncatingIfNeeded: carry)
            carry >>= 8
        }
        return counter
    }
}
