import IoTCore

/// Finds the id of a request in a message that is refused without parsing it, in one pass over the bytes.
public enum RequestHead {
    /// Returns the message's `id` if it is an object with a `method` and a valid id, otherwise `nil`. It does not check
    /// the rest of the message, and does not decode escapes in names and ids.
    public static func id(in message: [UInt8]) -> String? {
        var scanner = Scanner(bytes: message)
        guard scanner.take(UInt8(ascii: "{")) else { return nil }
        var id: String?
        var hasMethod = false
        repeat {
            guard let name = scanner.takeString(), scanner.take(UInt8(ascii: ":")) else { break }
            switch name {
            case idName: id = scanner.peekString().map { String(decoding: $0, as: UTF8.self) }
            case methodName: hasMethod = true
            default: break
            }
            scanner.skipValue()
        } while scanner.take(UInt8(ascii: ","))
        return hasMethod ? id.flatMap { RequestID.isValid($0) ? $0 : nil } : nil
    }

    private static let idName = Array("id".utf8)[...]
    private static let methodName = Array("method".utf8)[...]
    /// An id has 64 bytes at most.
    private static let longestString = 64

    private struct Scanner {
        let bytes: [UInt8]
        var position = 0

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
            guard position < bytes.count else { return nil }
            position += 1
            return position - 1 - start <= RequestHead.longestString ? bytes[start..<position - 1] : []
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

        private mutating func skipWhitespace() {
            while position < bytes.count {
                switch bytes[position] {
                case 0x20, 0x0A, 0x0D, 0x09: position += 1
                default: return
                }
            }
        }
    }
}
