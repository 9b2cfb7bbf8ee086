import NIOCore

/// The boxes at a segment's start that are not `moov`.
enum SegmentHeader {
    /// The placeholder follows `ftyp`.
    static let placeholderOffset: Int64 = 32
    static let placeholderBytes = 16
    /// The type of the box that says where the segment's times come from, and whose it is.
    static let originType: [UInt8] = [
        0x69, 0x6F, 0x74, 0x76, 0x69, 0x64, 0x65, 0x6F, 0x64, 0x2D, 0x73, 0x65, 0x67, 0x6D, 0x6E, 0x74,
    ]
    static let longestIdentity = 1_024

    static func writeFileType(to buffer: inout ByteBuffer) {
        buffer.writeBox("ftyp") { box in
            box.writeString("isom")
            box.writeInteger(UInt32(0x200))
            // `iso6`: offsets count from `moof`; decoding times are of 64 bits.
            for brand in ["isom", "iso6", "iso2", "mp41"] { box.writeString(brand) }
        }
    }

    static func writePlaceholder(to buffer: inout ByteBuffer) {
        buffer.writeBox("free") { $0.writeZeros(placeholderBytes - 8) }
    }

    /// The head of the `mdat` that replaces the placeholder and ends at `end`.
    static func writeMediaHead(end: Int64, to buffer: inout ByteBuffer) {
        // The size follows the type, in 64 bits.
        buffer.writeInteger(UInt32(1))
        buffer.writeInteger(BoxType("mdat").rawValue)
        buffer.writeInteger(end - placeholderOffset)
    }

    static func writeOrigin(start: Int64, created: Int64, identity: [UInt8], to buffer: inout ByteBuffer) {
        buffer.writeBox("uuid") { box in
            box.writeBytes(originType)
            box.writeInteger(UInt32(0))
            box.writeInteger(start)
            box.writeInteger(created)
            box.writeBytes(identity.prefix(longestIdentity))
        }
    }
}
