import IoTCore
import NIOCore
import RecordingStore

/// A caller's request for a picture of the recordings: JSON with `picture`, which has `time`, or `from`, `to` and `every`,
/// and optionally `width` and `height`. Times are ms since 1970.
struct PictureRequest: Sendable, Hashable {
    /// Part lengths, ms.
    private static let lengths: ClosedRange<Int64> = 1_000...86_400_000

    var want: RecordedPictureWant
    var bounds: PictureBounds?

    init(_ want: RecordedPictureWant, _ bounds: PictureBounds?) {
        self.want = want
        self.bounds = bounds
    }

    /// - Returns: `nil` for another request.
    /// - Throws: `invalidParameter`.
    init?(_ json: JSONValue) throws(IoTError) {
        guard let picture = json["picture"] else { return nil }
        bounds = try Self.bounds(picture)
        if let time = try PlaybackMessages.time(picture, "time") {
            // The whole millisecond, so that the times of lists find their own picture.
            want = .at(time + 999)
            return
        }
        guard let from = try PlaybackMessages.time(picture, "from"), let to = try PlaybackMessages.time(picture, "to"),
            from < to, let every = picture["every"]?.integerValue, Self.lengths.contains(every)
        else {
            throw IoTError(.invalidParameter, "a picture has a 'time', or 'from', 'to' and 'every' (1 s to a day)")
        }
        want = .first(in: from..<to, every: every * 1_000)
    }

    private static func bounds(_ picture: JSONValue) throws(IoTError) -> PictureBounds? {
        guard let width = try PlaybackMessages.number(picture, "width") else { return nil }
        let height = try PlaybackMessages.number(picture, "height")
        guard let bounds = PictureBounds([width, height].compactMap { $0.map(String.init) }.joined(separator: "x"))
        else {
            throw IoTError(.invalidParameter, "'width' and 'height' must be 16 to 16384")
        }
        return bounds
    }

    var bytes: ByteBuffer {
        var picture: JSONValue
        switch want {
        case .at(let time): picture = ["time": PlaybackMessages.moment(time)]
        case .first(let times, let every):
            picture = PlaybackMessages.json(times)
            picture["every"] = .integer(every / 1_000)
        }
        picture["width"] = bounds.map { .integer(Int64($0.width)) }
        picture["height"] = bounds?.height.map { .integer(Int64($0)) }
        let request: JSONValue = ["picture": picture]
        return ByteBuffer(bytes: request.jsonBytes)
    }
}

/// The first response to a request for a picture: JSON with the `size` of the JPEG and its `time`, and the `from` and `to`
/// of its part. `time` is missing if the part has no picture. `from` and `to` are missing if nothing is recorded.
struct PictureHead: Sendable, Hashable {
    /// The largest JPEG that a receiver takes.
    static let mostBytes = 16 << 20

    var size = 0
    /// µs since 1970, as all times.
    var time: Int64?
    var part: Range<Int64>?

    init(_ found: FoundPicture?) {
        size = found?.picture?.bytes.readableBytes ?? 0
        time = found?.picture?.time
        part = found?.part
    }

    /// - Throws: `peerFailed`.
    init(parsing bytes: ByteBuffer) throws(IoTError) {
        guard bytes.readableBytes <= 1_024, let json = try? JSONValue(parsing: Array(bytes.readableBytesView)),
            let size = json["size"]?.integerValue, (0...Int64(Self.mostBytes)).contains(size)
        else { throw IoTError(.peerFailed, "the device described a picture in a way that cannot be read") }
        self.size = Int(size)
        time = PlaybackMessages.microseconds(json["time"])
        if let from = PlaybackMessages.microseconds(json["from"]), let to = PlaybackMessages.microseconds(json["to"]),
            from < to
        {
            part = from..<to
        }
    }

    var bytes: ByteBuffer {
        var json: JSONValue = ["size": .integer(Int64(size))]
        json["time"] = time.map { .integer($0 / 1_000) }
        json["from"] = part.map { .integer($0.lowerBound / 1_000) }
        json["to"] = part.map { .integer($0.upperBound / 1_000) }
        return ByteBuffer(bytes: json.jsonBytes)
    }
}
