public import IoTCore
import NIOCore

/// Recordings of a playback channel's device. Times are µs since 1970; a device has them in ms.
///
/// What happens comes as `MonitorEvent.playback`. All functions fail with 21040 on channels of other kinds.
extension MonitorChannel {
    /// A part of a page of recordings.
    public struct RecordedPage: Sendable, Hashable {
        public var items: [RecordedItem]
        /// How many pages there are.
        public var totalPage: Int
        /// `skip` of the rest of this page; `nil` if nothing is left.
        public var next: Int?
    }

    /// - Parameters:
    ///   - pageIndex: from 0 on.
    ///   - countPerPage: 1 to 3,200.
    ///   - skip: items of the page that are known already.
    public func recordings(
        in times: Range<Int64>, pageIndex: Int = 0, countPerPage: Int = 1_440, type: String? = nil,
        isAscending: Bool = true, skip: Int = 0
    ) async throws(IoTError) -> RecordedPage {
        var params = PlaybackMessages.json(times)
        params["pageIndex"] = .integer(Int64(pageIndex))
        params["countPerPage"] = .integer(Int64(countPerPage))
        params["order"] = isAscending ? "ascending" : "descending"
        params["skip"] = .integer(Int64(skip))
        params["type"] = type.map { .string($0) }
        let page = try await askRecordings(.playbackList, params)
        return RecordedPage(
            items: page["items"]?.arrayValue?.compactMap(PlaybackMessages.item) ?? [],
            totalPage: Int(clamping: page["totalPage"]?.integerValue ?? 0),
            next: page["next"]?.integerValue.map { Int(clamping: $0) })
    }

    /// The first days with recordings in this time, about 100.
    ///
    /// - Returns: the days, and the time from which on there are more; `nil` if there are none.
    public func recordedDays(
        in times: Range<Int64>, by division: DayDivision = .zone("UTC")
    ) async throws(IoTError) -> (days: [RecordedDate], next: Int64?) {
        var params = PlaybackMessages.json(times)
        switch division {
        case .zone(let name): params["zone"] = .string(name)
        case .offset(let seconds): params["offset"] = .integer(seconds)
        }
        let page = try await askRecordings(.playbackDays, params)
        let days = page["days"]?.arrayValue?.compactMap(PlaybackMessages.day) ?? []
        return (days, PlaybackMessages.microseconds(page["next"]))
    }

    /// Plays from a time on. The media come when the channel plays.
    ///
    /// - Parameters:
    ///   - end: where playback ends.
    ///   - speed: above 0, at most 32. Above 2 only key frames are sent; sound is sent at 1 alone.
    public func seek(
        to time: Int64, until end: Int64? = nil, speed: Double? = nil, strategy: PlaybackStrategy? = nil
    ) async throws(IoTError) {
        var params: JSONValue = ["time": .integer(time / 1_000)]
        params["end"] = end.map { .integer($0 / 1_000) }
        params["speed"] = speed.map { .number($0) }
        params["strategy"] = strategy.map { .string($0.rawValue) }
        _ = try await askRecordings(.playbackSeek, params)
    }

    public func pausePlayback() async throws(IoTError) { _ = try await askRecordings(.playbackPause) }
    public func resumePlayback() async throws(IoTError) { _ = try await askRecordings(.playbackResume) }
    /// Shows the next picture, and pauses.
    public func stepPlayback() async throws(IoTError) { _ = try await askRecordings(.playbackStep) }
    public func stopPlayback() async throws(IoTError) { _ = try await askRecordings(.playbackStop) }

    public func setPlaybackSpeed(_ speed: Double) async throws(IoTError) {
        _ = try await askRecordings(.playbackSpeed, ["speed": .number(speed)])
    }

    private func askRecordings(_ method: ControlMethod, _ params: JSONValue = [:]) async throws(IoTError) -> JSONValue {
        do {
            return try await onCore { core throws(IoTError) in try core.askRecordings(method, params) }.get()
        } catch {
            throw error as? IoTError ?? IoTError(.internalFailure, underlying: error)
        }
    }
}
