/// A JSON reader (RFC 8259) that keeps integers exact, bounds the depth, and never traps on untrusted input.
///
/// Names and strings that are not stream-safe (`String.isStreamSafe`) are refused. Therefore parsing a text takes
/// linear time, as does comparing and hashing its values.
public struct JSONParser {
    /// Where the text is not valid JSON, and why.
    public struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
        public let reason: String
        /// The byte offset, from 0.
        public let offset: Int

        public var description: String { "\(reason) at byte \(offset)" }
    }

    /// The default limit for nested objects and arrays.
    public static let defaultMaximumDepth = 128

    private let bytes: [UInt8]
    private let maximumDepth: Int
    private var position = 0

    init(bytes: [UInt8], maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    mutating func parse() throws(Failure) -> JSONValue {
        let value = try parseValue(depth: 0)
        skipWhitespace()
        guard position == bytes.count else { throw failure("unexpected text after the value") }
        return value
    }

    private func failure(_ reason: String) -> Failure {
        Failure(reason: reason, offset: position)
    }

    private var current: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private mutating func skipWhitespace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func parseValue(depth: Int) throws(Failure) -> JSONValue {
        skipWhitespace()
        guard let first = current else { throw failure("the text ended where a value should begin") }
        switch first {
        case UInt8(ascii: "{"): return try parseObject(depth: depth)
        case UInt8(ascii: "["): return try parseArray(depth: depth)
        case UInt8(ascii: "\""): return .string(try parseString())
        case UInt8(ascii: "t"): return try parseLiteral("true", .bool(true))
        case UInt8(ascii: "f"): return try parseLiteral("false", .bool(false))
        case UInt8(ascii: "n"): return try parseLiteral("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try parseNumber()
        default: throw failure("a JSON value was expected")
        }
    }

    private mutating func parseLiteral(_ text: StaticString, _ value: JSONValue) throws(Failure) -> JSONValue {
        let matches = text.withUTF8Buffer { bytes[position...].starts(with: $0) }
        guard matches else { throw failure("a JSON value was expected") }
        position += text.utf8CodeUnitCount
        return value
    }

    private mutating func parseObject(depth: Int) throws(Failure) -> JSONValue {
        guard depth < maximumDepth else { throw failure("nested more than \(maximumDepth) deep") }
        position += 1
        var members: [String: JSONValue] = [:]
        skipWhitespace()
        if current == UInt8(ascii: "}") {
            position += 1
            return .object(members)
        }
        while true {
            skipWhitespace()
            guard current == UInt8(ascii: "\"") else { throw failure("a member's name in quotes was expected") }
            let name = try parseString()
            skipWhitespace()
            guard current == UInt8(ascii: ":") else { throw failure("':' was expected") }
            position += 1
            members[name] = try parseValue(depth: depth + 1)
            skipWhitespace()
            switch current {
            case UInt8(ascii: ","): position += 1
            case UInt8(ascii: "}"):
                position += 1
                return .object(members)
            default: throw failure("',' or '}' was expected")
            }
        }
    }

    private mutating func parseArray(depth: Int) throws(Failure) -> JSONValue {
        guard depth < maximumDepth else { throw failure("nested more than \(maximumDepth) deep") }
        position += 1
        var elements: [JSONValue] = []
        skipWhitespace()
        if current == UInt8(ascii: "]") {
            position += 1
            return .array(elements)
        }
        while true {
            elements.append(try parseValue(depth: depth + 1))
            skipWhitespace()
            switch current {
            case UInt8(ascii: ","): position += 1
            case UInt8(ascii: "]"):
                position += 1
                return .array(elements)
            default: throw failure("',' or ']' was expected")
            }
        }
    }

    private mutating func parseNumber() throws(Failure) -> JSONValue {
        let start = position
        var isInteger = true
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") {
            position += 1
        } else {
            try skipDigits()
        }
        if current == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try skipDigits()
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            isInteger = false
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try skipDigits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw failure("a number out of range") }
        return .number(value)
    }

    private mutating func skipDigits() throws(Failure) {
        let start = position
        while let byte = current, Hex.isDecimalDigit(byte) { position += 1 }
        guard position > start else { throw failure("a digit was expected") }
    }

    private mutating func parseString() throws(Failure) -> String {
        position += 1
        let start = position
        skipPlainText()
        if current == UInt8(ascii: "\"") {
            position += 1
            return try string(bytes[start..<position - 1])
        }
        var text = Array(bytes[start..<position])
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return try string(text[...])
            case UInt8(ascii: "\\"):
                position += 1
                try parseEscape(into: &text)
            case 0..<0x20:
                throw failure("a control character in a string")
            default:
                let start = position
                skipPlainText()
                text += bytes[start..<position]
            }
        }
        throw failure("the text ended inside a string")
    }

    private mutating func skipPlainText() {
        while let byte = current, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { position += 1 }
    }

    private func string(_ text: ArraySlice<UInt8>) throws(Failure) -> String {
        // Most texts are ASCII, and this is faster than validating them.
        let ascii = text.withUnsafeBufferPointer { utf8 in
            utf8.allSatisfy { $0 < 0x80 } ? String(decoding: utf8, as: UTF8.self) : nil
        }
        if let ascii { return ascii }
        guard let string = String(validating: text, as: UTF8.self) else { throw failure("invalid UTF-8") }
        guard string.isStreamSafe else {
            throw failure("a string with more than \(String.longestCombiningRun) combining marks in a row")
        }
        return string
    }

    private mutating func parseEscape(into text: inout [UInt8]) throws(Failure) {
        guard let byte = current else { throw failure("the text ended inside a string") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            if let scalar = UTF8.encode(try parseUnicodeEscape()) { text.append(contentsOf: scalar) }
        default: throw failure("an unknown escape")
        }
    }

    /// RFC 8259 §7: a scalar outside the Basic Multilingual Plane is written as a surrogate pair. A single surrogate is
    /// refused.
    private mutating func parseUnicodeEscape() throws(Failure) -> Unicode.Scalar {
        let first = try parseHexDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xD800..<0xDC00).contains(first), current == UInt8(ascii: "\\"), position + 1 < bytes.count,
            bytes[position + 1] == UInt8(ascii: "u")
        else { throw failure("half of a surrogate pair") }
        position += 2
        let second = try parseHexDigits()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw failure("half of a surrogate pair") }
        return scalar
    }

    private mutating func parseHexDigits() throws(Failure) -> UInt32 {
        guard position + 4 <= bytes.count,
            let pair = Hex.decode(String(decoding: bytes[position..<position + 4], as: UTF8.self))
        else { throw failure("four hex digits were expected") }
        position += 4
        return UInt32(pair[0]) << 8 | UInt32(pair[1])
    }
}
