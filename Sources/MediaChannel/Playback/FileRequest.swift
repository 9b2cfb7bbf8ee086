import IoTCore
import NIOCore
import RecordingStore

/// A caller's request for a part of a recording: JSON with `recording`, and optionally `tag`, `offset` and `count`.
struct FileRequest: Sendable, Hashable {
    /// As in the list of recordings.
    var item: Int64
    /// The recording must still have this tag.
    var tag: String?
    var offset: Int64 = 0
    /// 0 asks for the size and the tag alone.
    var count = 0

    init(item: Int64, tag: String? = nil, offset: Int64 = 0, count: Int = 0) {
        self.item = item
        self.tag = tag
        self.offset = offset
        self.count = count
    }

    /// - Throws: `invalidRequest`, `downloadOffsetInvalid`, `downloadSizeInvalid`.
    init(parsing bytes: ByteBuffer) throws(IoTError) {
        guard bytes.readableBytes <= 1_024,
            let json = try? JSONValue(parsing: Array(bytes.readableBytesView)),
            let item = json["recording"]?.integerValue
        else { throw IoTError(.invalidRequest, "a request for a file is JSON with the number of a recording") }
        self.item = item
        tag = json["tag"]?.stringValue
        offset = json["offset"]?.integerValue ?? 0
        guard offset >= 0 else { throw IoTError(.downloadOffsetInvalid) }
        let count = json["count"]?.integerValue ?? 0
        guard (0...Int64(FileServer.mostBytes)).contains(count) else {
            throw IoTError(
                .downloadSizeInvalid, "a request for a file may ask for at most \(FileServer.mostBytes) bytes")
        }
        self.count = Int(count)
    }

    var bytes: ByteBuffer {
        var json: JSONValue = [
            "recording": .integer(item), "offset": .integer(offset), "count": .integer(Int64(count)),
        ]
        json["tag"] = tag.map { .string($0) }
        return ByteBuffer(string: json.jsonText)
    }

    /// - Throws: `downloadUnavailable` if the recording has another tag, `downloadOffsetInvalid`; the disk's error.
    func read(_ recording: OpenRecording) throws(IoTError) -> ByteBuffer {
        guard tag == nil || tag == recording.tag else {
            throw IoTError(
                .downloadUnavailable, "the recording has changed: it has grown, or was completed",
                remedy: "begin the download again")
        }
        guard offset <= recording.size else { throw IoTError(.downloadOffsetInvalid) }
        return try recording.read(at: offset, count: count)
    }
}

/// The first response to a request for a file: JSON with `size` and `tag`.
struct FileHead: Sendable, Hashable {
    var size: Int64
    var tag: String

    init(_ recording: OpenRecording) {
        (size, tag) = (recording.size, recording.tag)
    }

    /// - Throws: `peerFailed`.
    init(parsing bytes: ByteBuffer) throws(IoTError) {
        guard bytes.readableBytes <= 1_024, let json = try? JSONValue(parsing: Array(bytes.readableBytesView)),
            let size = json["size"]?.integerValue, size >= 0, let tag = json["tag"]?.stringValue,
            tag.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") })
        else { throw IoTError(.peerFailed, "the device described a file in a way that cannot be read") }
        (self.size, self.tag) = (size, tag)
    }

    var bytes: ByteBuffer {
        let json: JSONValue = ["size": .integer(size), "tag": .string(tag)]
        return ByteBuffer(string: json.jsonText)
    }
}
