/// How much of a camera is sent: one of its pictures, or its sound only.
public enum Definition: String, Sendable, Hashable, CaseIterable {
    case low, mid, high
    /// The sound without a picture.
    case audio

    /// The words in order, separated by commas: the first one that a camera has is used. `nil` for an unknown word, an
    /// empty list, and more than four words.
    public static func list(_ text: String) -> [Definition]? {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        guard words.count <= allCases.count else { return nil }
        let list = words.compactMap { Definition(rawValue: String($0)) }
        return list.count == words.count ? list : nil
    }

    package static let requirement = "must be one or more of low, mid, high and audio, separated by commas"
}
