/// The number of terminal cells that a text needs.
enum TextWidth {
    /// East Asian wide characters take two (Unicode Standard Annex 11, its main ranges).
    static func of(_ text: String) -> Int {
        text.reduce(0) { width, character in
            guard let scalar = character.unicodeScalars.first?.value else { return width }
            let isWide =
                (0x1100...0x115F).contains(scalar) || (0x2E80...0xA4CF).contains(scalar)
                || (0xAC00...0xD7A3).contains(scalar) || (0xF900...0xFAFF).contains(scalar)
                || (0xFE30...0xFE6F).contains(scalar) || (0xFF00...0xFF60).contains(scalar)
                || (0x1F300...0x1FAFF).contains(scalar) || (0x20000...0x3FFFD).contains(scalar)
            return width + (isWide ? 2 : 1)
        }
    }

    /// The text, or the part of it that fits before a `…`.
    static func shorten(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        var (kept, taken) = ("", 0)
        for character in text {
            let next = of(String(character))
            guard taken + next < width else { break }
            kept.append(character)
            taken += next
        }
        return kept + "…"
    }
}
