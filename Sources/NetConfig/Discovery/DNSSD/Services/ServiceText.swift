import IoTCore

/// The keys and values of a TXT record (RFC 6763 §6).
enum ServiceText {
    private static let maximumString = 255
    private static let maximumPairs = 32

    /// By key in lower case, because keys are case-insensitive (§6.4); the first value of a duplicate key. Values that
    /// are not readable text are omitted.
    static func parse(_ strings: [[UInt8]]) -> [String: String] {
        var values: [String: String] = [:]
        for string in strings.prefix(maximumPairs) {
            let parts = string.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = parts.first, !first.isEmpty, first.allSatisfy({ (0x20...0x7E).contains($0) }),
                let value = readable(parts.count == 2 ? parts[1] : [])
            else { continue }
            let key = String(decoding: first, as: UTF8.self).lowercased()
            if values[key] == nil { values[key] = value }
        }
        return values
    }

    /// Omits pairs without a value, and pairs longer than a string: a truncated serial number would be another one.
    static func strings(_ pairs: [(key: String, value: String?)]) -> [[UInt8]] {
        pairs.compactMap { pair in
            guard let value = pair.value, readable(Array(value.utf8)) != nil else { return nil }
            let string = Array("\(pair.key)=\(value)".utf8)
            return string.count <= maximumString ? string : nil
        }
    }

    /// A stranger's bytes as text: UTF-8 without control characters or long runs of combining marks; `nil` for
    /// anything else.
    static func readable(_ bytes: some Collection<UInt8>) -> String? {
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), let text = String(validating: bytes, as: UTF8.self),
            text.isStreamSafe, !text.unicodeScalars.contains(where: isControl)
        else { return nil }
        return text
    }

    /// C1 controls, and characters that change a line's direction or break it.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x80...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
