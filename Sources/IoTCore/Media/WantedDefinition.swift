/// A definition that a caller accepts.
public enum WantedDefinition: Sendable, Hashable {
    case named(Definition)
    /// The definition whose picture has this height in pixels, written as `720p`.
    case height(Int)

    private static let maximumLength = 256
    private static let maximumWordLength = 16

    /// The words in order, separated by commas: the first one that a camera has is used. Words that are not known are
    /// left out, because a newer caller may know more.
    ///
    /// - Returns: `nil` if no word is known, for a word that is not 1 to 16 letters and digits, and for more than 256
    ///   bytes.
    public static func list(_ text: String) -> [WantedDefinition]? {
        guard text.utf8.count <= maximumLength else { return nil }
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        guard words.allSatisfy(isWord) else { return nil }
        let list = words.compactMap { WantedDefinition($0) }
        return list.isEmpty ? nil : list
    }

    package static let requirement =
        "must be one or more of low, mid, high, audio and a height such as 720p, separated by commas"

    private static func isWord(_ word: Substring) -> Bool {
        (1...maximumWordLength).contains(word.utf8.count)
            && word.unicodeScalars.allSatisfy { $0.isASCII && ($0.properties.isAlphabetic || "0"..."9" ~= $0) }
    }

    private init?(_ word: Substring) {
        if let definition = Definition(rawValue: String(word)) {
            self = .named(definition)
        } else if word.last == "p", word.first != "0", let height = Int(word.dropLast()), (1...99_999).contains(height)
        {
            self = .height(height)
        } else {
            return nil
        }
    }
}
