import IoTCore

/// What strangers say of themselves, made fit for people and comparisons.
enum DeviceText {
    /// The greatest length of what is kept, in bytes.
    static let maximumSize = 128

    /// Without control characters, and cut.
    static func clean(_ text: String) -> String {
        var result = ""
        var size = 0
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: continue
            default: break
            }
            size += UTF8.width(scalar)
            guard size <= maximumSize else { break }
            result.unicodeScalars.append(scalar)
        }
        let words = result.split(separator: " ").joined(separator: " ")
        return words.isStreamSafe ? words : ""
    }

    /// `aa:bb:cc:dd:ee:ff` of the ways in which one is written; `nil` for none, and for those of zeros and ones alone.
    static func macAddress(_ text: String) -> String? {
        let digits = text.filter { $0 != ":" && $0 != "-" && $0 != "." }
        guard let bytes = Hex.decode(digits), bytes.count == 6, bytes.contains(where: { $0 != bytes[0] }) else {
            return nil
        }
        return bytes.map { Hex.encode([$0]) }.joined(separator: ":")
    }

    /// `nil` for what firmware holds until somebody writes a number there.
    static func serialNumber(_ text: String) -> String? {
        let text = clean(text)
        let isReal = text.utf8.count >= 4 && text.contains { $0 != text.first }
        return isReal && !["unknown", "none", "null", "default", "123456", "12345678"].contains(text.lowercased())
            ? text : nil
    }
}
