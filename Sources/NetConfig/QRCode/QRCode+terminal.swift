extension QRCode {
    /// The code for a terminal, two modules in each character, with its quiet zone and a line end after each line.
    ///
    /// Light modules are drawn in the text's colour and dark ones are blank, so the code is dark on light if the
    /// terminal is dark. With `colours` it sets white on black itself (ECMA-48 SGR) and works on every terminal.
    public func terminalText(colours: Bool = false) -> String {
        let range = -Self.quietZone..<width + Self.quietZone
        var text = ""
        for row in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            if colours { text += "\u{1B}[38;5;231;48;5;16m" }
            for column in range {
                let upper = isDark(row: row, column: column)
                // The number of rows is odd; below the last one nothing is drawn.
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
