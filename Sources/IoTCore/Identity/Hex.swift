/// Hexadecimal text.
public enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// `nil` for an odd length or a character that is not a hex digit. Reads upper and lower case.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text.utf8 {
            guard let value = value(of: character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
    }

    /// `byteCount` random bytes from the system's generator, as text.
    public static func random(byteCount: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return random(byteCount: byteCount, using: &generator)
    }

    /// The system's generator costs a system call for each number: a number is eight bytes.
    package static func random(byteCount: Int, using generator: inout some RandomNumberGenerator) -> String {
        var bytes: [UInt8] = []
        while bytes.count < byteCount { withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) } }
        return encode(bytes.prefix(byteCount))
    }

    static func isDecimalDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    static func isLowerCaseDigit(_ byte: UInt8) -> Bool {
        isDecimalDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    private static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
