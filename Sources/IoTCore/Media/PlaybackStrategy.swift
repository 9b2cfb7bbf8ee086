/// What is played after a recording.
public enum PlaybackStrategy: String, Sendable, Hashable, CaseIterable {
    /// Nothing.
    case single
    /// The next recording.
    case ascending
    /// The recording before; each recording itself is played forwards.
    case descending

    /// What a text must be.
    public static let requirement = "must be one of: " + allCases.map(\.rawValue).joined(separator: ", ")
}
