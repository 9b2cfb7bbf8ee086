import Foundation
import IoTCore
import MediaCodec
import NIOCore
import RecordingStore

@testable import MediaChannel

/// A disk's thread that records a clip in a real directory. Used on one thread.
final class RecordedDisk {
    static let wall: Int64 = 1_795_521_600_000_000

    let directory = NSTemporaryDirectory() + "stored-" + Hex.random(byteCount: 8)
    let leases = SegmentLeases()
    let index: RecordingIndex
    let camera: CameraNumber
    let disk: RecordingDisk
    let recording: CameraRecording
    let source: MediaDemuxer

    init() throws {
        try FileManager.default.createDirectory(
            atPath: directory + "/rec", withIntermediateDirectories: true)
        index = try RecordingIndex(path: directory + "/recordings.sqlite")
        camera = try index.camera(named: "front")
        var configuration = DiskConfiguration(path: directory + "/rec")
        configuration.floor = 0
        disk = RecordingDisk(
            files: POSIXRecordingFiles(path: directory + "/rec", requiresMount: false), index: index,
            scanner: MP4SegmentScanner(), leases: leases, configuration: configuration
        ) { _ in }
        recording = CameraRecording(camera, boot: "boot", length: SegmentLength(duration: 3_000_000))
        let clip = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Samples/street-h264-aac.mp4").standardizedFileURL.path
        source = try MediaDemuxer(url: clip)
        write(recording.opened(video: source.video, audio: source.audio))
    }

    deinit {
        index.close()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Records up to a time of the source.
    func record(until end: Int64 = .max) throws -> [MediaFrame] {
        var frames: [MediaFrame] = []
        while var frame = try source.readFrame() {
            frame.dts = frame.pts
            frames.append(frame)
            let now = Moment(monotonic: 5_000_000_000 + frame.pts, wall: Self.wall + frame.pts)
            write(recording.take(frame, now: now, isSynchronised: true))
            if frame.pts >= end { return frames }
        }
        return frames
    }

    func write(_ outputs: [CameraRecording.Output]) {
        for output in outputs {
            switch output {
            case .begin(let opening): disk.begin(opening, of: camera)
            case .append(let fragment): disk.append(fragment, of: camera)
            case .end(let ending): disk.end(ending, of: camera)
            }
        }
    }

    /// All recordings of the disk.
    var library: RecordingLibrary {
        let disk = LibraryDisk(disk: disk, path: directory + "/rec") { [directory] in
            POSIXRecordingFiles(path: directory + "/rec", requiresMount: false)
        }
        return RecordingLibrary(index: index, disks: [disk], leases: leases)
    }

    func stored() -> StoredRecordings {
        StoredRecordings(camera, index: index, library: library)
    }

    func file(_ item: RecordedItem) throws -> URL {
        guard let id = SegmentID(rawValue: item.id) else { throw IoTError(.notFound) }
        return URL(fileURLWithPath: directory + "/rec/" + id.path)
    }

    /// The camera's recordings as its callers get them.
    func recordings() -> CameraRecordings {
        let source = stored()
        return CameraRecordings(reader: RecordedReader(), files: RecordedReader(name: "files")) { source }
    }

    /// What two frames with the same media have in common: a recorded key frame also has its parameter sets.
    static func tail(_ frame: MediaFrame) -> [UInt8] { Array(frame.bytes.readableBytesView.suffix(64)) }
}
