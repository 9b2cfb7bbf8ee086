/// How much of a camera is sent: one of its pictures, or its sound only.
public enum Definition: String, Sendable, Hashable, CaseIterable {
    case low, mid, high
    /// The sound without a picture.
    case audio
}
