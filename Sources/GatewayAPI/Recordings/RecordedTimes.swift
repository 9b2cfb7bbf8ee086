/// A time without a gap in the recordings. All times are ms since 1970.
public struct RecordedTime: Codable, Hashable, Sendable {
    public var start: Int64
    public var end: Int64
    /// The highest reason of its recordings.
    public var reason: Recording.Reason

    public init(start: Int64, end: Int64, reason: Recording.Reason) {
        self.start = start
        self.end = end
        self.reason = reason
    }
}

/// `GET /v1/devices/{device}/recordings/ranges`
public struct RecordedTimeList: Codable, Hashable, Sendable {
    public var ranges: [RecordedTime]
    /// The value of `after` for the next page; `nil` at the end of the list.
    public var next: String?
    /// Present while the camera's box is offline: the hub answers with what the box told it then, ms since 1970.
    public var asOf: Int64?

    public init(ranges: [RecordedTime], next: String? = nil) {
        self.ranges = ranges
        self.next = next
    }
}

/// A day with recordings.
public struct RecordedDay: Codable, Hashable, Sendable {
    /// `2026-11-24`
    public var date: String
    /// When the day begins and ends, ms since 1970: 23 or 25 hours where daylight saving time begins or ends.
    public var start: Int64
    public var end: Int64

    public init(date: String, start: Int64, end: Int64) {
        self.date = date
        self.start = start
        self.end = end
    }
}

/// `GET /v1/devices/{device}/recordings/days`
public struct RecordedDayList: Codable, Hashable, Sendable {
    public var days: [RecordedDay]
    /// As `RecordedTimeList.asOf`.
    public var asOf: Int64?

    public init(days: [RecordedDay]) {
        self.days = days
    }
}
