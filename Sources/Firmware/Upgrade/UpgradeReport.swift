/// What the program that installs releases reports: a number, a space, and a text on the same line.
public struct UpgradeReport: Sendable, Hashable {
    /// The progress when whoever installs the release has it.
    public static let handedOver: Int32 = 95
    /// The number of a release that was installed and whose daemon is healthy.
    public static let installed: Int32 = 100
    private static let longestText = 1024

    /// `installed`, or the number of an error.
    public let number: Int32
    /// The version, or the reason.
    public let text: String

    /// - Returns: `nil` for a malformed report.
    public init?(_ line: String) {
        let parts = line.prefix { $0 != "\n" }.split(separator: " ", maxSplits: 1)
        guard let word = parts.first, let number = Int32(word), number >= Self.installed else { return nil }
        self.number = number
        let text = parts.count == 2 ? Array(parts[1].unicodeScalars.prefix(Self.longestText)) : []
        self.text = String(
            String.UnicodeScalarView(text.filter { $0.properties.generalCategory != .control }))
    }
}
