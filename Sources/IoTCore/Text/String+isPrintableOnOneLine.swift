extension Unicode.Scalar {
    /// Of C0, DEL or C1: in a text from a stranger it could end a line or command a terminal.
    package var isControl: Bool { properties.generalCategory == .control }
}

extension StringProtocol {
    /// Whether the text contains no control character.
    package var isPrintableOnOneLine: Bool { !unicodeScalars.contains(where: \.isControl) }
}
