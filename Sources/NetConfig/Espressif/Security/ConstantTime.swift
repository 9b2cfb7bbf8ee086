import COpenSSL

enum ConstantTime {
    /// Compares in a time that does not depend on the position of a difference.
    static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
