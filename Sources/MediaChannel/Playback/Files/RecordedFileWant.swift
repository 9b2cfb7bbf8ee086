import IoTCore

/// What a caller reads of a camera's recordings. Times are µs since 1970; a recording is named by `RecordedItem.id`, or by
/// its number among the camera's recordings.
package enum RecordedFileWant: Sendable, Hashable {
    /// The file of a recording.
    case recording(Int64)
    /// A time as one MP4, without the gaps.
    case clip(Range<Int64>, title: String)
    /// A `RecordedStream`, as JSON.
    case stream(Range<Int64>)
    /// A page of `RecordedRanges`, as JSON.
    case ranges(Range<Int64>, isAscending: Bool, limit: Int, after: String?)
    /// The description of the tracks of a stream's parts.
    case header(Int64)
    /// Fragments of a recording, on a time line that all recordings of its run share.
    case fragments(Int64, first: Int, count: Int)

    private static let longestTitle = 64
    private static let longestCursor = 64
    private static let pages = 1...RecordedListQuery.largestPage

    /// - Throws: `invalidRequest`, `invalidParameter`.
    init(_ json: JSONValue) throws(IoTError) {
        if let item = json["recording"]?.integerValue {
            self = .recording(item)
        } else if let clip = json["clip"] {
            let title = clip["title"]?.stringValue ?? ""
            guard title.utf8.count <= Self.longestTitle else {
                throw IoTError(.invalidParameter, "a clip's title has at most \(Self.longestTitle) bytes")
            }
            self = .clip(try PlaybackMessages.times(clip), title: title)
        } else if let stream = json["stream"] {
            self = .stream(try PlaybackMessages.times(stream))
        } else if let ranges = json["ranges"] {
            self = try Self.ranges(ranges)
        } else if let item = json["header"]?.integerValue {
            self = .header(item)
        } else if let fragments = json["fragments"], let item = fragments["recording"]?.integerValue,
            let first = try PlaybackMessages.number(fragments, "first"),
            let count = try PlaybackMessages.number(fragments, "count")
        {
            self = .fragments(item, first: first, count: count)
        } else {
            throw IoTError(
                .invalidRequest,
                "a request for a file is JSON with 'recording', 'clip', 'stream', 'ranges', 'header' or 'fragments'")
        }
    }

    private static func ranges(_ json: JSONValue) throws(IoTError) -> RecordedFileWant {
        let limit = try PlaybackMessages.number(json, "limit") ?? pages.upperBound
        let after = json["after"]?.stringValue
        guard pages.contains(limit), after?.utf8.count ?? 0 <= longestCursor else {
            throw IoTError(.invalidParameter, "a page has 1 to \(pages.upperBound) ranges")
        }
        return .ranges(
            try PlaybackMessages.times(json), isAscending: try PlaybackMessages.isAscending(json), limit: limit,
            after: after)
    }

    var json: JSONValue {
        switch self {
        case .recording(let item): return ["recording": .integer(item)]
        case .clip(let times, let title):
            var clip = PlaybackMessages.json(times)
            clip["title"] = title.isEmpty ? nil : .string(title)
            return ["clip": clip]
        case .stream(let times): return ["stream": PlaybackMessages.json(times)]
        case .ranges(let times, let isAscending, let limit, let after):
            var ranges = PlaybackMessages.json(times)
            ranges["order"] = .string((isAscending ? PlaybackStrategy.ascending : .descending).rawValue)
            ranges["limit"] = .integer(Int64(limit))
            ranges["after"] = after.map { .string($0) }
            return ["ranges": ranges]
        case .header(let item): return ["header": .integer(item)]
        case .fragments(let item, let first, let count):
            return [
                "fragments": [
                    "recording": .integer(item), "first": .integer(Int64(first)), "count": .integer(Int64(count)),
                ]
            ]
        }
    }
}
