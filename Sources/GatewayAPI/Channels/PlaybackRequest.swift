/// `PATCH /v1/channels/{id}/playback`: what a playback channel plays, and how. Absent members stay unchanged. All times
/// are ms since 1970.
public struct PlaybackRequest: APIRequestBody, Hashable {
    public static let members = ["time", "end", "speed", "strategy", "paused"]

    /// Where to play from; without a recording at this time, from the first one after it.
    public var time: Int64?
    /// Where playback ends; only together with `time`.
    public var end: Int64?
    /// Above 0, at most 32. Above 2 only key frames are played; sound is played at 1 alone.
    public var speed: Double?
    /// What follows a recording: `ascending`, `descending` or `single`; only together with `time`.
    public var strategy: String?
    public var paused: Bool?

    public init(
        time: Int64? = nil, end: Int64? = nil, speed: Double? = nil, strategy: String? = nil, paused: Bool? = nil
    ) {
        self.time = time
        self.end = end
        self.speed = speed
        self.strategy = strategy
        self.paused = paused
    }

    /// True if nothing is to be changed.
    public var isEmpty: Bool { self == PlaybackRequest() }
}
