/// Which bytes of a file a request wants (RFC 9110 §14). Only one range is supported; a request for several gets the
/// whole file, as §14.2 allows.
enum RequestedRange: Equatable {
    case whole
    case part(Range<Int64>)
    /// The file has none of these bytes.
    case unsatisfiable

    /// - Parameters:
    ///   - range: the value of `Range`.
    ///   - condition: the value of `If-Range`: an entity tag with its quotes. A date, or another tag, makes the range
    ///     void (§13.1.5).
    ///   - tag: the file's own entity tag, with its quotes.
    init(_ range: String?, if condition: String?, size: Int64, tag: String) {
        self = .whole
        guard let range, condition == nil || condition == tag else { return }
        let parts = range.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes", !parts[1].contains(",") else { return }
        let text = parts[1].filter { $0 != " " && $0 != "\t" }
        let bounds = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Self.number(bounds[0]), let last = Self.number(bounds[1]) else { return }
        switch (first, last) {
        case (nil, nil): return
        case (nil, let count?):
            // The last bytes.
            self = count == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - count)..<size)
        case (let first?, let last):
            if let last, last < first { return }
            guard first < size else {
                self = .unsatisfiable
                return
            }
            self = .part(first..<min(last ?? .max, size - 1) + 1)
        }
    }

    /// The number in a text. An empty text has the number `nil`; a text that is not a number gives no result. A number that
    /// is too large counts as the largest one.
    private static func number(_ text: Substring) -> Int64?? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return text.isEmpty ? .some(nil) : .some(Int64(text) ?? .max)
    }
}
