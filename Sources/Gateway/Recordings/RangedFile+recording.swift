import IoTCore
import RecordingStore

extension RangedFile {
    static let recordingType = "video/mp4"

    /// An open recording. While it is referenced, it is not removed. Reading it throws 21039 if the disk fails or the file
    /// is shorter than its index says.
    init(_ recording: OpenRecording, camera: String, part: QuotaPart, threads: RecordingThreads) {
        self.init(
            name: "\(camera)-\(recording.record.id.number).mp4", contentType: Self.recordingType, size: recording.size,
            tag: recording.tag, part: part
        ) { offset, count in
            try await threads.run { () throws(IoTError) in try recording.read(at: offset, count: count) }
        }
    }
}
