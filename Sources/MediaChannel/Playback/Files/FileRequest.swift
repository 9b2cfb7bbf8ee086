import IoTCore
import NIOCore
import RecordingStore

/// A caller's request for bytes of recordings: JSON with what it wants, and optionally `tag`, `offset` and `count`.
struct FileRequest: Sendable, Hashable {
    var want: RecordedFileWant
    /// The file must still have this tag.
    var tag: String?
    var offset: Int64 = 0
    /// 0 asks for the size and the tag alone.
    var count = 0

    init(_ want: RecordedFileWant, tag: String? = nil, offset: Int64 = 0, count: Int = 0) {
        self.want = want
        self.tag = tag
        self.offset = offset
        self.count = count
    }

    /// - Throws: `invalidRequest`, `invalidParameter`, `downloadOffsetInvalid`, `downloadSizeInvalid`.
    init(_ json: JSONValue) throws(IoTError) {
        want = try RecordedFileWant(json)
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
        var json = want.json
        json["offset"] = .integer(offset)
        json["count"] = .integer(Int64(count))
        json["tag"] = tag.map { .string($0) }
        return ByteBuffer(bytes: json.jsonBytes)
    }

    /// - Throws: `downloadUnavailable` if the file has another tag, `downloadOffsetInvalid`; the disk's error.
    func read(_ file: any RecordedFile) throws(IoTError) -> ByteBuffer {
        guard tag == nil || tag == file.tag else {
            throw IoTError(
                .downloadUnavailable, "the recording has changed: it has grown, or was completed",
                remedy: "begin the download again")
        }
        guard offset <= file.size else { throw IoTError(.downloadOffsetInvalid) }
        guard count > 0 else { return ByteBuffer() }
        var bytes = try file.read(at: offset, count: count)
        // A clip is read in pieces.
        while bytes.readableBytes < count {
            var rest = try file.read(
                at: offset + Int64(bytes.readableBytes), count: count - bytes.readableBytes)
            guard bytes.writeBuffer(&rest) > 0 else { break }
        }
        return bytes
    }
}

/// The first response to a request for a file: JSON with `size` and `tag`.
struct FileHead: Sendable, Hashable {
    var size: Int64
    var tag: String

    init(_ file: any RecordedFile) {
        (size, tag) = (file.size, file.tag)
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
        return ByteBuffer(bytes: json.jsonBytes)
    }
}
