import IoTCore

/// Makes texts from strangers safe to display and compare.
enum DeviceText {
    /// The maximum stored length in bytes.
    static let maximumSize = 128

    /// The cleaned text of an element's child; `nil` if there is none.
    static func of(_ name: String, in element: XMLElement?) -> String? {
        let text = (element?.child(name)?.text).map(clean) ?? ""
        return text.isEmpty ? nil : text
    }

    /// The text without control characters, truncated.
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

    /// Normalises the usual forms to `aa:bb:cc:dd:ee:ff`; `nil` for other text, and for all zeros or all ones.
    static func macAddress(_ text: String) -> String? {
        let digits = text.filter { $0 != ":" && $0 != "-" && $0 != "." }
        guard let bytes = Hex.decode(digits), bytes.count == 6, bytes.contains(where: { $0 != bytes[0] }) else {
            return nil
        }
        return bytes.map { Hex.encode([$0]) }.joined(separator: ":")
    }

    /// `nil` for the firmware's placeholder for a serial number.
    static func serialNumber(_ text: String) -> String? {
        let text = clean(text)
        let isReal = text.utf8.count >= 4 && text.contains { $0 != text.first }
        return isReal && !["unknown", "none", "null", "default", "123456", "12345678"].contains(text.lowercased())
            ? text : nil
    }
}
