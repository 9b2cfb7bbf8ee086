/// Writes JSON text (RFC 8259) as UTF-8. Names are in code-point order, so that equal values give equal text.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    /// The spaces of one level; `nil` for compact text.
    private let indentation: Int?
    private var depth = 0

    init(indentation: Int? = nil) {
        self.indentation = indentation
    }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: write("null")
        case .bool(let flag): write(flag ? "true" : "false")
        case .integer(let integer): write(String(integer))
        // JSON has no infinities: they become null, as in JavaScript.
        case .number(let number): write(number.isFinite ? number.description : "null")
        case .string(let text): writeQuoted(text)
        case .array(let elements):
            begin("[")
            for (index, element) in elements.enumerated() {
                next(index)
                write(element)
            }
            end("]", isEmpty: elements.isEmpty)
        case .object(let members):
            begin("{")
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                next(index)
                writeQuoted(member.key)
                write(indentation == nil ? ":" : ": ")
                write(member.value)
            }
            end("}", isEmpty: members.isEmpty)
        }
    }

    // MARK: Lists

    private mutating func begin(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        depth += 1
    }

    private mutating func next(_ index: Int) {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        breakLine()
    }

    private mutating func end(_ bracket: Unicode.Scalar, isEmpty: Bool) {
        depth -= 1
        if !isEmpty { breakLine() }
        bytes.append(UInt8(ascii: bracket))
    }

    private mutating func breakLine() {
        guard let indentation else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indentation * depth))
    }

    // MARK: Texts

    private mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    private mutating func writeQuoted(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            // What needs no escape is copied in one piece.
            var start = 0
            for (index, byte) in utf8.enumerated() where Self.needsEscape(byte) {
                bytes.append(contentsOf: utf8[start..<index])
                writeEscape(byte)
                start = index + 1
            }
            bytes.append(contentsOf: utf8[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func writeEscape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): write("\\\"")
        case UInt8(ascii: "\\"): write("\\\\")
        case UInt8(ascii: "\n"): write("\\n")
        case UInt8(ascii: "\r"): write("\\r")
        case UInt8(ascii: "\t"): write("\\t")
        default: write("\\u00" + Hex.encode([byte]))
        }
    }
}
