extension QRCode {
    /// The code for a terminal, two modules a character, with its quiet zone, a line end behind each line.
    ///
    /// Light modules are drawn in the text's colour and dark ones left blank, so that it is dark on light where the
    /// terminal is dark. With `colours` it sets white on black by itself (ECMA-48 SGR) and is right on every terminal.
    public func terminalText(colours: Bool = false) -> String {
        let range = -Self.quietZone..<width + Self.quietZone
        var text = ""
        for row in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            if colours { text += "\u{1B}[38;5;231;48;5;16m" }
            for column in range {
                let upper = isDark(row: row, column: column)
                // The rows are odd in number; below the last there is nothing to draw.
                let lower = row + 1 >= range.upperBound || isDark(row: row + 1, column: column)
                text += Self.glyph(upperIsDark: upper, lowerIsDark: lower)
            }
            text += colours ? "\u{1B}[0m\n" : "\n"
        }
        return text
    }

    private static func glyph(upperIsDark: Bool, lowerIsDark: Bool) -> String {
        switch (upperIsDark, lowerIsDark) {
        case (false, false): "█"
        case (false, true): "▀"
        case (true, false): "▄"
        case (true, true): " "
        }
    }
}
