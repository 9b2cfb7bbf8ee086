/// The value of `Range` (RFC 2326 §12.29).
package enum RangeHeader: Sendable, Hashable {
    /// A point in normal play time (RFC 2326 §3.6).
    package enum Point: Sendable, Hashable {
        case now
        /// In ms.
        case time(Int64)
    }

    /// Without a start, the range is from the beginning; without an end, to the end.
    case normalPlayTime(start: Point?, end: Point?)
    /// The text of a range in other units, such as `clock` or `smpte`.
    case other(String)

    /// From now on, for live streams.
    package static let live = RangeHeader.normalPlayTime(start: .now, end: nil)

    /// `nil` if `npt` is malformed.
    package init?(parsing text: String) {
        guard let part = HeaderParameters.split(Substring(text), ";").first else { return nil }
        let pair = part.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2, HeaderParameters.trimmed(Substring(pair[0])).lowercased() == "npt" else {
            self = .other(String(part))
            return
        }
        let points = pair[1].split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
            .map { HeaderParameters.trimmed(Substring($0)) }
        let times = points.map { $0.isEmpty ? nil : Self.point($0) }
        // A start without its hyphen is accepted.
        guard (1...2).contains(points.count), zip(points, times).allSatisfy({ $0.isEmpty || $1 != nil }) else {
            return nil
        }
        self = .normalPlayTime(start: times[0], end: times.count > 1 ? times[1] : nil)
    }

    package var text: String {
        switch self {
        case .other(let text): text
        case .normalPlayTime(let start, let end):
            "npt=\(start.map(Self.text) ?? "")-\(end.map(Self.text) ?? "")"
        }
    }

    /// `now`, `12.5` or `0:00:12.5`.
    private static func point(_ text: Substring) -> Point? {
        if text.lowercased() == "now" { return .now }
        let fields = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard fields.count == 1 || fields.count == 3 else { return nil }
        var seconds: Int64 = 0
        for field in fields.dropLast() {
            guard let number = UInt32(Substring(field)) else { return nil }
            seconds = seconds * 60 + Int64(number)
        }
        let decimal = (fields.last ?? text.utf8[...]).split(
            separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = UInt32(Substring(decimal[0])) else { return nil }
        seconds = seconds * (fields.count == 3 ? 60 : 1) + Int64(whole)
        var milliseconds: Int64 = 0
        if decimal.count == 2 {
            guard decimal[1].allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            let digits = decimal[1].prefix(3).map { Int64($0 - 0x30) } + [0, 0, 0]
            milliseconds = digits[0] * 100 + digits[1] * 10 + digits[2]
        }
        return .time(seconds * 1_000 + milliseconds)
    }

    private static func text(_ point: Point) -> String {
        guard case .time(let milliseconds) = point else { return "now" }
        let rest = String(milliseconds % 1_000)
        return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }
}
