import Foundation
import IoTCore
import MediaCodec
import NIOCore
import Testing

@testable import RecordingStore

/// What a `WriterProcess` has left: opening it completes what was interrupted.
final class WrittenDisk {
    let library: RecordingLibrary
    private let index: RecordingIndex

    init(_ directory: String) throws {
        index = try RecordingIndex(path: directory + "/index.sqlite")
        let path = directory + "/disk"
        let leases = SegmentLeases()
        var configuration = DiskConfiguration(path: path)
        configuration.floor = 0
        let disk = RecordingDisk(
            files: POSIXRecordingFiles(path: path, requiresMount: false), index: index,
            scanner: MP4SegmentScanner(), leases: leases, configuration: configuration
        ) { _ in }
        disk.stop()
        let read = LibraryDisk(disk: disk, path: path) {
            POSIXRecordingFiles(path: path, requiresMount: false)
        }
        library = RecordingLibrary(index: index, disks: [read], leases: leases)
    }

    deinit {
        index.close()
    }

    func segments() throws -> [SegmentRecord] {
        guard let camera = try index.number(of: "front") else { return [] }
        return try library.segments(RecordingQuery(camera: camera, times: 0..<Int64.max, limit: 10_000)).entries
    }

    /// No segment is open, and the disk is as the index says.
    func checkSound(isThorough: Bool, _ label: Comment) throws {
        #expect(try index.openSegments(on: 1).isEmpty, label)
        let report = try library.check(isThorough: isThorough)
        #expect(report.isSound, "\(report.findings), \(label)")
    }

    /// Reads all frames of a segment: each is whole, and none is missing between them.
    ///
    /// - Returns: the number of fragments.
    func read(_ record: SegmentRecord) throws -> Int {
        let recording = try library.open(record.id)
        let contents = try SegmentContents(header: try recording.header())
        var offset = recording.list.headerSize
        var last: Int64?
        for facts in recording.list.fragments {
            let bytes = try recording.read(at: offset, count: Int(facts.byteCount))
            let entry = FragmentEntry(
                offset: offset, byteCount: Int(facts.byteCount), mediaStart: facts.mediaStart,
                mediaDuration: facts.mediaDuration, wallClock: facts.wallStart,
                startsWithKeyFrame: facts.startsWithKeyFrame)
            for sample in try contents.samples(of: entry, bytes) {
                var frame = try #require(
                    bytes.getSlice(at: bytes.readerIndex + Int(sample.offset - offset), length: sample.byteCount))
                let first = frame.readInteger(as: Int64.self)
                let number = try #require(first)
                let filling = ByteBuffer(repeating: UInt8(truncatingIfNeeded: number), count: sample.byteCount - 8)
                try #require(frame == filling, "\(recording.record.id)")
                try #require(last.map { $0 + 1 == number } ?? true, "\(recording.record.id)")
                last = number
            }
            offset += facts.byteCount
        }
        return recording.list.fragments.count
    }
}
