/// One recorded file of a camera, about a minute long. All times are ms since 1970.
public struct Recording: Codable, Hashable, Sendable {
    public enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// It is being recorded.
        case growing
        case complete
        /// It ended with a crash or a lost disk. What it holds can be played.
        case interrupted
    }

    /// Why something is recorded. What has the first reason is removed first when space is needed.
    public enum Reason: String, Codable, Hashable, Sendable, CaseIterable, Comparable {
        case continuous, motion, event

        public static func < (left: Reason, right: Reason) -> Bool {
            guard let first = allCases.first(where: { $0 == left || $0 == right }) else { return false }
            return left != right && first == left
        }
    }

    /// Decimal digits. Later recordings of a camera have larger numbers.
    public var id: String
    public var start: Int64
    public var end: Int64
    public var bytes: Int64
    public var state: State
    public var reason: Reason
    /// Whether it is in a kept time range, and therefore not removed.
    public var kept: Bool

    public init(id: String, start: Int64, end: Int64, bytes: Int64, state: State, reason: Reason, kept: Bool) {
        self.id = id
        self.start = start
        self.end = end
        self.bytes = bytes
        self.state = state
        self.reason = reason
        self.kept = kept
    }
}

/// `GET /v1/devices/{device}/recordings`
public struct RecordingList: Codable, Hashable, Sendable {
    public var recordings: [Recording]
    /// The value of `after` for the next page; `nil` at the end of the list.
    public var next: String?

    public init(recordings: [Recording], next: String? = nil) {
        self.recordings = recordings
        self.next = next
    }
}
