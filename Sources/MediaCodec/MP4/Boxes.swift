import NIOCore

/// The type of a box (ISO/IEC 14496-12 §4.2).
struct BoxType: Hashable, Sendable, ExpressibleByStringLiteral {
    let rawValue: UInt32

    init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Four characters of Latin-1, because `©` is one byte.
    init(stringLiteral value: String) {
        rawValue = value.unicodeScalars.reduce(0) { $0 << 8 | $1.value & 0xFF }
    }
}

extension ByteBuffer {
    mutating func writeBox(_ type: BoxType, _ body: (inout ByteBuffer) -> Void) {
        let start = writerIndex
        writeInteger(UInt32(0))
        writeInteger(type.rawValue)
        body(&self)
        setInteger(UInt32(clamping: writerIndex - start), at: start)
    }

    /// A box with a version and flags.
    mutating func writeBox(
        _ type: BoxType, version: UInt8, flags: UInt32 = 0, _ body: (inout ByteBuffer) -> Void
    ) {
        writeBox(type) { box in
            box.writeInteger(UInt32(version) << 24 | flags)
            body(&box)
        }
    }

    /// Writes many integers with one check of the space for them.
    mutating func writeIntegers<Integer: FixedWidthInteger>(_ values: [Integer]) {
        let size = MemoryLayout<Integer>.size
        writeWithUnsafeMutableBytes(minimumWritableBytes: values.count * size) { space in
            for (place, value) in values.enumerated() {
                space.storeBytes(of: value.bigEndian, toByteOffset: place * size, as: Integer.self)
            }
            return values.count * size
        }
    }

    mutating func writeZeros(_ count: Int) {
        writeRepeatingByte(0, count: count)
    }

    /// Reads a box whose bytes are complete; `nil` at the end and for a damaged size.
    mutating func readBox() -> (type: BoxType, body: ByteBuffer)? {
        guard let size = getInteger(at: readerIndex, as: UInt32.self),
            let type = getInteger(at: readerIndex + 4, as: UInt32.self), size >= 8,
            var body = readSlice(length: Int(size))
        else { return nil }
        body.moveReaderIndex(forwardBy: 8)
        return (BoxType(rawValue: type), body)
    }

    /// The boxes inside this one, up to the first damage.
    var boxes: [(type: BoxType, body: ByteBuffer)] {
        var rest = self
        var found: [(type: BoxType, body: ByteBuffer)] = []
        while let box = rest.readBox() { found.append(box) }
        return found
    }

    /// The first box at this path of types.
    func box(_ path: BoxType...) -> ByteBuffer? {
        var current = self
        for type in path {
            var (rest, found) = (current, ByteBuffer?.none)
            while found == nil, let box = rest.readBox() {
                if box.type == type { found = box.body }
            }
            guard let found else { return nil }
            current = found
        }
        return current
    }

    /// The version and flags at the start of a full box.
    mutating func readVersion() -> (version: UInt8, flags: UInt32)? {
        guard let word = readInteger(as: UInt32.self) else { return nil }
        return (UInt8(word >> 24), word & 0xFF_FFFF)
    }
}
