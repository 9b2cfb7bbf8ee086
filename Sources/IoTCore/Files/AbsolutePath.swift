extension StringProtocol {
    /// Whether the text begins with the byte `/`. `hasPrefix` compares characters, and a slash with a combining mark after
    /// it is another character.
    package var isAbsolutePath: Bool { utf8.first == UInt8(ascii: "/") }
}
