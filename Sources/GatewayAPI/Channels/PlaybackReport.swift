/// What a playback channel's device reports: the server-sent event `playback`. All times are ms since 1970.
public struct PlaybackReport: Codable, Hashable, Sendable {
    public enum Event: String, Codable, Hashable, Sendable, CaseIterable {
        /// The first frame of a recording follows.
        case willBeginFile
        /// The last frame of a recording was sent; with `error` if the rest of it was not.
        case didEndFile
        /// Nothing is recorded from `start` to `end`, and it is skipped.
        case gap
        /// `time` is that of the last picture; about once a second.
        case position
        /// Everything was played; with `error` if nothing more could be read.
        case finished
    }

    public var event: Event
    /// The number of the recording, as in `Recording`.
    public var recording: String?
    /// Of the recording, or of the gap.
    public var start: Int64?
    public var end: Int64?
    public var time: Int64?
    public var error: APIError?

    public init(
        event: Event, recording: String? = nil, start: Int64? = nil, end: Int64? = nil, time: Int64? = nil,
        error: APIError? = nil
    ) {
        self.event = event
        self.recording = recording
        self.start = start
        self.end = end
        self.time = time
        self.error = error
    }
}
