extension QRCode {
    /// The code as text for a terminal, with its quiet zone. Each character draws two modules; each line ends with a
    /// newline.
    ///
    /// Light modules use the foreground colour and dark ones are blank: correct on a dark terminal. With `colours`,
    /// escape sequences (ECMA-48 SGR) set white on black, which is correct on every terminal.
    public func terminalText(colours: Bool = false) -> String {
        let range = -Self.quietZone..<width + Self.quietZone
        var text = ""
        for row in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            if colours { text += "\u{1B}[38;5;231;48;5;16m" }
            for column in range {
                let upper = isDark(row: row, column: column)
                // The number of rows is odd: the lower half of the last line stays blank.
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
