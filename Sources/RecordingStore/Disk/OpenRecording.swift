package import IoTCore
import MediaCodec
package import NIOCore

/// An open segment. Releasing it closes the file and allows its removal.
package final class OpenRecording: Sendable {
    package let record: SegmentRecord
    /// What was known when it was opened.
    package let list: FragmentList
    private let file: OpenFile
    private let files: any RecordingFiles
    private let leases: SegmentLeases

    init(
        record: SegmentRecord, list: FragmentList, file: OpenFile, files: any RecordingFiles, leases: SegmentLeases
    ) {
        self.record = record
        self.list = list
        self.file = file
        self.files = files
        self.leases = leases
    }

    deinit {
        files.close(file)
        leases.release(record.id)
    }

    /// The size of what can be read: of a growing segment, what was written when it was opened.
    package var size: Int64 { record.state == .closed ? record.byteCount : list.byteCount }

    /// Without quotes (RFC 9110 §8.8.3): two files with the same tag have the same bytes.
    package var tag: String { "\(record.id.rawValue)-\(record.start)-\(size)-\(record.state.rawValue)" }

    /// Reads up to `count` bytes; fewer at the end. Blocks. The bytes of an open recording never change: when a growing
    /// segment is closed, the head that then hides its fragments is not shown.
    ///
    /// - Throws: `recorderUnavailable` if the disk fails, or the file is shorter than its index says.
    package func read(at offset: Int64, count: Int) throws(IoTError) -> ByteBuffer {
        let count = min(Int64(count), size - offset)
        guard count > 0 else { return ByteBuffer() }
        var bytes: ByteBuffer
        do {
            bytes = try files.read(file, at: offset, count: Int(count))
        } catch {
            throw error.error(disk: "the recording disk")
        }
        guard bytes.readableBytes == count else {
            throw IoTError(
                .recorderUnavailable, "the file of the recording \(record.id) is shorter than its index says",
                remedy: "check the disk with `iotctl recording check`")
        }
        if record.state != .closed { SegmentPlaceholder.restore(in: &bytes, at: offset) }
        return bytes
    }
}
