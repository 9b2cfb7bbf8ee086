/// The checksum of SCTP packets (RFC 9260 §6.8 and appendix A): CRC-32c, eight bytes at a time.
enum CRC32C {
    /// Eight tables of 256: table n is for a byte with n bytes after it.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for index in 0..<256 {
            tables[index] = (0..<8).reduce(UInt32(index)) { value, _ in
                value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1
            }
        }
        for index in 256..<8 * 256 {
            let previous = tables[index - 256]
            tables[index] = previous >> 8 ^ tables[Int(previous & 0xFF)]
        }
        return tables
    }()

    static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        ~update(.max, bytes)
    }

    /// The checksum of a whole packet, with its checksum field taken as zero.
    static func checksum(ofPacket bytes: UnsafeRawBufferPointer) -> UInt32 {
        guard bytes.count >= 12 else { return 0 }
        var value = update(.max, UnsafeRawBufferPointer(rebasing: bytes[..<8]))
        value = withUnsafeBytes(of: UInt32(0)) { update(value, $0) }
        return ~update(value, UnsafeRawBufferPointer(rebasing: bytes[12...]))
    }

    private static func update(_ value: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
        tables.withUnsafeBufferPointer { tables in
            var value = value
            var offset = 0
            while bytes.count - offset >= 8 {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                let low = UInt32(truncatingIfNeeded: word) ^ value
                let high = UInt32(truncatingIfNeeded: word >> 32)
                let first = tables[7 << 8 | Int(low & 0xFF)] ^ tables[6 << 8 | Int(low >> 8 & 0xFF)]
                let second = tables[5 << 8 | Int(low >> 16 & 0xFF)] ^ tables[4 << 8 | Int(low >> 24)]
                let third = tables[3 << 8 | Int(high & 0xFF)] ^ tables[2 << 8 | Int(high >> 8 & 0xFF)]
                let fourth = tables[1 << 8 | Int(high >> 16 & 0xFF)] ^ tables[Int(high >> 24)]
                value = first ^ second ^ third ^ fourth
                offset += 8
            }
            while offset < bytes.count {
                value = value >> 8 ^ tables[Int((value ^ UInt32(bytes[offset])) & 0xFF)]
                offset += 1
            }
            return value
        }
    }
}
