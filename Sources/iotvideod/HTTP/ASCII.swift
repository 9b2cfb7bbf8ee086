/// Text of a protocol that knows ASCII only, compared by its bytes. Swift compares `String`s by canonical equivalence,
/// which costs a stranger's combining marks the square of their number.
enum ASCII {
    /// In lower case; `nil` for text with other characters.
    static func lowercased(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            guard byte < 0x80 else { return nil }
            let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            bytes.append(isUpper ? byte | 0x20 : byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
