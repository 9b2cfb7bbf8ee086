/// Reads the parts of a TZif file (RFC 8536 §3). Every method returns `nil` or false beyond the end.
struct TZifReader {
    struct Header {
        var version: Int
        var universalCount: Int
        var standardCount: Int
        var leapCount: Int
        var timeCount: Int
        var typeCount: Int
        var nameSize: Int

        /// The size of the block of data after this header.
        func size(timeSize: Int) -> Int {
            timeCount * (timeSize + 1) + typeCount * 6 + restSize(timeSize: timeSize)
        }

        /// What comes after the types.
        func restSize(timeSize: Int) -> Int {
            nameSize + leapCount * (timeSize + 4) + standardCount + universalCount
        }
    }

    private var rest: ArraySlice<UInt8>

    init(bytes: [UInt8]) {
        rest = bytes[...]
    }

    mutating func header() -> Header? {
        guard let magic = take(4), Array(magic) == Array("TZif".utf8), let version = take(1)?.first, skip(15),
            let counts = integers(6, size: 4)?.map({ Int($0) }), counts.allSatisfy({ (0...65_536).contains($0) })
        else { return nil }
        return Header(
            version: version == 0 ? 1 : Int(version) - 48, universalCount: counts[0], standardCount: counts[1],
            leapCount: counts[2], timeCount: counts[3], typeCount: counts[4], nameSize: counts[5])
    }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func skip(_ count: Int) -> Bool { take(count) != nil }

    /// Signed, in big-endian order.
    mutating func integers(_ count: Int, size: Int) -> [Int64]? {
        guard let bytes = take(count * size) else { return nil }
        return (0..<count).map { number in
            let start = bytes.startIndex + number * size
            let first = Int64(Int8(bitPattern: bytes[start]))
            return bytes[start + 1..<start + size].reduce(first) { $0 << 8 | Int64($1) }
        }
    }

    /// The text between the two last line feeds.
    mutating func footer() -> String {
        guard rest.first == 10, let end = rest.dropFirst().firstIndex(of: 10) else { return "" }
        return String(decoding: rest[rest.startIndex + 1..<end], as: UTF8.self)
    }
}
