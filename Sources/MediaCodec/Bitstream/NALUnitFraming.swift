/// How a packet delimits its NAL units.
enum NALUnitFraming: Equatable {
    /// Each unit follows a start code (H.264 Annex B).
    case startCodes
    /// Each unit follows a big-endian length of 1 to 4 bytes (ISO/IEC 14496-15).
    case lengths(size: Int)

    /// The ranges of the units in `bytes`, without start codes or lengths; empty units are left out.
    ///
    /// A length that exceeds the remaining bytes ends the list.
    func ranges(in bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
        switch self {
        case .startCodes: Self.rangesBehindStartCodes(bytes)
        case .lengths(let size): Self.rangesBehindLengths(bytes, size: size)
        }
    }

    private static func rangesBehindLengths(_ bytes: UnsafeRawBufferPointer, size: Int) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var position = 0
        while bytes.count - position >= size {
            var length = 0
            for offset in 0..<size { length = length << 8 | Int(bytes[position + offset]) }
            position += size
            guard length <= bytes.count - position else {
                // Some writers use start codes instead of lengths: the first one reads as a length of 1.
                let isStartCode = size >= 3 && bytes[size - 1] == 1 && bytes[..<(size - 1)].allSatisfy { $0 == 0 }
                return isStartCode ? rangesBehindStartCodes(bytes) : ranges
            }
            if length > 0 { ranges.append(position..<position + length) }
            position += length
        }
        return ranges
    }

    private static func rangesBehindStartCodes(_ bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start: Int?
        var position = 0
        let count = bytes.count
        while position + 2 < count {
            let third = bytes[position + 2]
            if third > 1 {
                position += 3
            } else if third == 1, bytes[position] == 0, bytes[position + 1] == 0 {
                append(start, position, bytes, to: &ranges)
                start = position + 3
                position += 3
            } else {
                position += 1
            }
        }
        append(start, count, bytes, to: &ranges)
        return ranges
    }

    // Zeros before a start code do not belong to a unit: no unit ends with a zero byte (H.264 §7.4.1).
    private static func append(
        _ start: Int?, _ limit: Int, _ bytes: UnsafeRawBufferPointer, to ranges: inout [Range<Int>]
    ) {
        guard let start else { return }
        var end = limit
        while end > start, bytes[end - 1] == 0 { end -= 1 }
        if end > start { ranges.append(start..<end) }
    }
}
