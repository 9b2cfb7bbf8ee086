import NIOCore

/// The 96 bits that match a response to its request (RFC 8489 §5).
struct STUNTransactionID: Hashable, Sendable {
    static let byteCount = 12

    let high: UInt32
    let low: UInt64

    init(high: UInt32, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Uniformly random, because only an unpredictable id prevents forged responses.
    init(using generator: inout any RandomNumberGenerator) {
        high = UInt32(truncatingIfNeeded: generator.next())
        low = generator.next()
    }

    var bytes: [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: high >> (24 - 8 * $0)) }
            + (0..<8).map { UInt8(truncatingIfNeeded: low >> (56 - 8 * $0)) }
    }
}
