/// A document's real encoding, because cameras declare `utf-8` for GBK, and `utf-16` for UTF-8.
enum XMLEncoding {
    /// - Returns: The bytes to parse, and the encoding for expat; with `nil`, expat detects it.
    static func settle(_ bytes: [UInt8]) -> (bytes: [UInt8], encoding: String?) {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return (bytes, nil) }
        var text = bytes[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        // Some firmware sends its buffer's zeros, and a line before the declaration.
        while text.last == 0 { text.removeLast() }
        text = text.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        if String(validating: text, as: UTF8.self) != nil { return (Array(text), "UTF-8") }
        if declaresLatin1(text) { return (Array(text), "ISO-8859-1") }
        // Bytes that are not UTF-8 become U+FFFD: addresses and identities are ASCII anyway.
        return (Array(String(decoding: text, as: UTF8.self).utf8), "UTF-8")
    }

    private static func declaresLatin1(_ text: ArraySlice<UInt8>) -> Bool {
        let declaration = String(decoding: text.prefix(120).prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
        return declaration.lowercased().contains("8859-1")
    }
}
