/// Reads bits, most significant first, for example of an RBSP (ITU-T H.264 §7.2) or of MPEG-4 (ISO/IEC 14496-3). Throws
/// at the end of the data and never traps.
package struct BitReader {
    package struct EndOfBits: Error {
        package init() {}
    }

    private let bytes: [UInt8]
    private var position = 0

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads the payload of a NAL unit, after its header, without the emulation prevention bytes (H.264 §7.4.1).
    ///
    /// Not generic: other modules would call it unspecialized, with a look-up for each byte.
    package init(nalUnit: [UInt8], headerLength: Int) {
        var payload: [UInt8] = []
        payload.reserveCapacity(nalUnit.count)
        var zeros = 0
        for byte in nalUnit.dropFirst(headerLength) {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            payload.append(byte)
        }
        bytes = payload
    }

    package var bitsLeft: Int { bytes.count * 8 - position }

    /// Up to 32 bits.
    package mutating func bits(_ count: Int) throws(EndOfBits) -> Int {
        guard count >= 0, count <= 32, count <= bitsLeft else { throw EndOfBits() }
        var value = 0
        for _ in 0..<count {
            value = value << 1 | Int(bytes[position >> 3] >> (7 - UInt8(position & 7)) & 1)
            position += 1
        }
        return value
    }

    package mutating func flag() throws(EndOfBits) -> Bool {
        try bits(1) == 1
    }

    package mutating func skip(_ count: Int) throws(EndOfBits) {
        guard count >= 0, count <= bitsLeft else { throw EndOfBits() }
        position += count
    }

    /// ue(v) (H.264 §9.1), 0 to 2³²−2.
    package mutating func unsignedExpGolomb() throws(EndOfBits) -> Int {
        var leadingZeros = 0
        while try !flag() {
            leadingZeros += 1
            guard leadingZeros < 32 else { throw EndOfBits() }
        }
        return (1 << leadingZeros) - 1 + (try bits(leadingZeros))
    }

    /// ue(v) of at most `maximum`. A value outside the standard's range means that the data are damaged.
    package mutating func unsignedExpGolomb(atMost maximum: Int) throws(EndOfBits) -> Int {
        let value = try unsignedExpGolomb()
        guard value <= maximum else { throw EndOfBits() }
        return value
    }

    /// se(v) (H.264 §9.1.1).
    package mutating func signedExpGolomb() throws(EndOfBits) -> Int {
        let value = try unsignedExpGolomb()
        return value & 1 == 1 ? (value + 1) / 2 : -(value / 2)
    }
}
