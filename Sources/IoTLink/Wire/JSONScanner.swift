/// Finds its way through JSON text without parsing it, in one pass over the bytes. It accepts damaged text.
struct JSONScanner {
    /// A longer string is none that anybody looks for: an id has 64 bytes at most.
    private static let longestString = 64

    let bytes: [UInt8]
    private(set) var position = 0

    /// Skips white space and takes the byte, if it is the next one.
    mutating func take(_ byte: UInt8) -> Bool {
        skipWhitespace()
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// Takes the string at this position, with its escapes; empty for a long one.
    mutating func takeString() -> ArraySlice<UInt8>? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard position < bytes.count else {
            // An escape may end the text.
            position = bytes.count
            return nil
        }
        position += 1
        return position - 1 - start <= Self.longestString ? bytes[start..<position - 1] : []
    }

    func peekString() -> ArraySlice<UInt8>? {
        var copy = self
        return copy.takeString()
    }

    /// Skips one value, however deep it is.
    mutating func skipValue() {
        var depth = 0
        skipWhitespace()
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                guard takeString() != nil else { return }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return }
                depth -= 1
                position += 1
            case UInt8(ascii: ",") where depth == 0: return
            default: position += 1
            }
        }
    }

    mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }
}
