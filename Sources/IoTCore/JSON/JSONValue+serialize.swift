extension JSONValue {
    /// Compact JSON text. Names are in code-point order, so that equal values give equal text.
    public var jsonText: String {
        var text = ""
        write(to: &text, indentation: nil, depth: 0)
        return text
    }

    /// JSON text for people: two spaces per level, names in order.
    public var prettyText: String {
        var text = ""
        write(to: &text, indentation: "  ", depth: 0)
        return text
    }

    private func write(to text: inout String, indentation: String?, depth: Int) {
        switch self {
        case .null: text += "null"
        case .bool(let flag): text += flag ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += Self.numberText(value)
        case .string(let string): Self.write(string, to: &text)
        case .array(let elements):
            Self.writeList(elements, ("[", "]"), to: &text, indentation, depth) { element, text in
                element.write(to: &text, indentation: indentation, depth: depth + 1)
            }
        case .object(let members):
            let sorted = members.sorted { $0.key < $1.key }
            Self.writeList(sorted, ("{", "}"), to: &text, indentation, depth) { member, text in
                Self.write(member.key, to: &text)
                text += indentation == nil ? ":" : ": "
                member.value.write(to: &text, indentation: indentation, depth: depth + 1)
            }
        }
    }

    private static func writeList<Element>(
        _ elements: [Element], _ brackets: (String, String), to text: inout String, _ indentation: String?,
        _ depth: Int,
        _ writeElement: (Element, inout String) -> Void
    ) {
        text += brackets.0
        for (index, element) in elements.enumerated() {
            if index > 0 { text += "," }
            if let indentation { text += "\n" + String(repeating: indentation, count: depth + 1) }
            writeElement(element, &text)
        }
        if let indentation, !elements.isEmpty { text += "\n" + String(repeating: indentation, count: depth) }
        text += brackets.1
    }

    /// JSON has no infinities: they become null, as in JavaScript.
    private static func numberText(_ value: Double) -> String {
        guard value.isFinite else { return "null" }
        return value.description
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{0}"..<"\u{20}", "\u{7F}":
                text += "\\u00" + Hex.encode([UInt8(scalar.value)])
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
