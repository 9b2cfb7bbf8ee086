/// Which encoding a document has, whatever it says of itself: cameras name `utf-8` above GBK, and `utf-16` above UTF-8.
enum XMLEncoding {
    /// - Returns: the bytes to parse, and the encoding that expat is told; `nil` lets expat see for itself.
    static func settle(_ bytes: [UInt8]) -> (bytes: [UInt8], encoding: String?) {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return (bytes, nil) }
        var text = bytes[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        // Firmware sends its buffer's zeros along, and a line before the declaration.
        while text.last == 0 { text.removeLast() }
        text = text.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        if String(validating: text, as: UTF8.self) != nil { return (Array(text), "UTF-8") }
        if declaresLatin1(text) { return (Array(text), "ISO-8859-1") }
        // What is not UTF-8 becomes U+FFFD: the addresses and identities are ASCII all the same.
        return (Array(String(decoding: text, as: UTF8.self).utf8), "UTF-8")
    }

    private static func declaresLatin1(_ text: ArraySlice<UInt8>) -> Bool {
        let declaration = String(decoding: text.prefix(120).prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
        return declaration.lowercased().contains("8859-1")
    }
}
