/// Reads big-endian bit fields; `nil` past the end.
struct BitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var remainingBits: Int { bytes.count * 8 - position }

    /// - Parameter count: 0–32.
    mutating func read(_ count: Int) -> UInt32? {
        guard count <= remainingBits else { return nil }
        var value: UInt32 = 0
        for _ in 0..<count {
            let bit = bytes[position / 8] >> UInt8(7 - position % 8) & 1
            value = value << 1 | UInt32(bit)
            position += 1
        }
        return value
    }
}
