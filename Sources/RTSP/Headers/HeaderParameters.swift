/// The parts of a header value between separators: `name`, `name=value` or `name="value"`.
struct HeaderParameters: Sequence {
    struct Parameter {
        /// In lower case.
        var name: String
        /// Without quotes; `nil` if there is no `=`.
        var value: Substring?
    }

    /// The largest number of parts that are read.
    static let maximumCount = 64

    private let parameters: [Parameter]

    init(_ text: some StringProtocol, separator: Character = ";") {
        parameters = Self.split(Substring(text), separator).compactMap { part in
            let pair = part.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = Self.trimmed(Substring(pair[0])).lowercased()
            guard !name.isEmpty else { return nil }
            guard pair.count > 1 else { return Parameter(name: name, value: nil) }
            // Quirk 2: Hikvision DS-2CD3641G2 writes `ssrc= 1234ABCD` (scottlamb/retina#128).
            return Parameter(name: name, value: Self.unquoted(Self.trimmed(Substring(pair[1]))))
        }
    }

    func makeIterator() -> some IteratorProtocol<Parameter> { parameters.makeIterator() }

    /// Splits at separators outside quotes. Empty parts are left out, because Laureii cameras end a list with a
    /// separator (quirk 3, scottlamb/retina#117).
    static func split(_ text: Substring, _ separator: Character) -> [Substring] {
        let separator = separator.asciiValue ?? 0
        var parts: [Substring] = []
        var start = text.utf8.startIndex
        var isQuoted = false
        for index in text.utf8.indices {
            let byte = text.utf8[index]
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            guard byte == separator, !isQuoted else { continue }
            if parts.count < maximumCount { parts.append(text[start..<index]) }
            start = text.utf8.index(after: index)
        }
        if parts.count < maximumCount { parts.append(text[start...]) }
        return parts.map(trimmed).filter { !$0.isEmpty }
    }

    static func trimmed(_ text: Substring) -> Substring {
        var bytes = text.utf8.drop { $0 == 0x20 || $0 == 9 }
        while let last = bytes.last, last == 0x20 || last == 9 { bytes = bytes.dropLast() }
        return Substring(bytes)
    }

    private static func unquoted(_ text: Substring) -> Substring {
        let quote = UInt8(ascii: "\"")
        guard text.utf8.count >= 2, text.utf8.first == quote, text.utf8.last == quote else { return text }
        return Substring(text.utf8.dropFirst().dropLast())
    }
}
