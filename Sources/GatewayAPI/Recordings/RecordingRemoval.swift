/// `DELETE /v1/devices/{device}/recordings`: the recordings that overlap a time range, also partly.
public struct RecordingRemoval: APIRequestBody, Hashable {
    public static let members = ["from", "to"]

    /// ms since 1970.
    public var from: Int64
    public var to: Int64

    public init(from: Int64, to: Int64) {
        self.from = from
        self.to = to
    }
}

/// What was removed, and what was not.
public struct RecordingRemovalReport: Codable, Hashable, Sendable {
    public var removed: Int
    public var bytes: Int64
    /// Recordings in a kept time range.
    public var kept: Int
    /// Recordings that somebody is reading.
    public var inUse: Int
    /// Recordings that are still growing.
    public var growing: Int

    public init(removed: Int, bytes: Int64, kept: Int, inUse: Int, growing: Int) {
        self.removed = removed
        self.bytes = bytes
        self.kept = kept
        self.inUse = inUse
        self.growing = growing
    }
}
