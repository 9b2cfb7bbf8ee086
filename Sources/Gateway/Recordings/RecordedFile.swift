import IoTCore
package import NIOCore
import RecordingStore

/// An open recording. Its bytes do not change; while it is referenced, it is not removed.
package final class RecordedFile: Sendable {
    /// A name for a downloaded file.
    package let name: String
    package let size: Int64
    /// An entity tag without quotes (RFC 9110 §8.8.3): two files with the same tag have the same bytes.
    package let tag: String
    private let part: QuotaPart?
    private let read: @Sendable (_ offset: Int64, _ count: Int) async throws -> ByteBuffer

    package init(
        name: String, size: Int64, tag: String, part: QuotaPart? = nil,
        read: @escaping @Sendable (_ offset: Int64, _ count: Int) async throws -> ByteBuffer
    ) {
        self.name = name
        self.size = size
        self.tag = tag
        self.part = part
        self.read = read
    }

    convenience init(_ recording: OpenRecording, camera: String, part: QuotaPart, threads: RecordingThreads) {
        self.init(
            name: "\(camera)-\(recording.record.id.number).mp4", size: recording.size,
            tag: recording.tag, part: part
        ) { offset, count in
            try await threads.run { () throws(IoTError) in try recording.read(at: offset, count: count) }
        }
    }

    /// - Throws: from the sequence: 21039 if the disk fails or the file is shorter than its index says.
    package func body(_ range: Range<Int64>) -> MediaBody {
        RecordedBody(range, read).body(part)
    }
}
