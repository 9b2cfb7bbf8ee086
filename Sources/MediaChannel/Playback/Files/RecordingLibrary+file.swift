package import IoTCore
import NIOCore
package import RecordingStore

extension RecordingLibrary {
    /// Opens what a caller wants to read. Blocks.
    ///
    /// - Throws: as `open`, `clip`, `stream` and `fragments`; `downloadNotFound` for a recording that the camera does not
    ///   have.
    package func file(_ want: RecordedFileWant, of camera: CameraNumber) throws(IoTError) -> any RecordedFile {
        switch want {
        case .recording(let item): return try open(try segment(item, of: camera))
        case .clip(let times, let title): return try clip(of: camera, in: times, title: title)
        case .stream(let times): return BytesFile(try stream(of: camera, in: times).json.jsonText)
        case .ranges(let times, let isAscending, let limit, let after):
            let query = RecordingQuery(
                camera: camera, times: times, order: isAscending ? .ascending : .descending, limit: limit, cursor: after
            )
            return BytesFile(RecordedRanges(try ranges(query)).json.jsonText)
        case .header(let item): return BytesFile(try header(of: try segment(item, of: camera)))
        case .fragments(let item, let first, let count):
            return try fragments(of: try segment(item, of: camera), first: first, count: count)
        }
    }

    private func segment(_ item: Int64, of camera: CameraNumber) throws(IoTError) -> SegmentID {
        let id = UInt32(exactly: item).map { SegmentID(camera: camera, number: $0) } ?? SegmentID(rawValue: item)
        // Other cameras of the disk are not this caller's.
        guard let id, id.camera == camera else {
            throw IoTError(.downloadNotFound, "the device has no recording \(item)")
        }
        return id
    }
}

/// A file in memory.
private final class BytesFile: RecordedFile {
    let tag: String
    private let bytes: ByteBuffer

    init(_ bytes: ByteBuffer) {
        self.bytes = bytes
        tag = "\(bytes.readableBytes)-\(bytes.contentTag)"
    }

    convenience init(_ text: String) { self.init(ByteBuffer(string: text)) }

    var size: Int64 { Int64(bytes.readableBytes) }

    func read(at offset: Int64, count: Int) -> ByteBuffer {
        let count = min(Int64(count), size - offset)
        guard offset >= 0, count > 0 else { return ByteBuffer() }
        return bytes.getSlice(at: bytes.readerIndex + Int(offset), length: Int(count)) ?? ByteBuffer()
    }
}
