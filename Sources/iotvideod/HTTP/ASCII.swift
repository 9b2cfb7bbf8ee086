/// Compares protocol text that may contain only ASCII, byte by byte. Swift compares `String`s by canonical equivalence,
/// which takes time quadratic in a run of combining marks that an attacker may send.
enum ASCII {
    /// The text in lower case; `nil` if it contains other characters.
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
