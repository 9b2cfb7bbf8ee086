import COpenSSL

enum ConstantTime {
    /// Takes the same time wherever the bytes differ.
    static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
