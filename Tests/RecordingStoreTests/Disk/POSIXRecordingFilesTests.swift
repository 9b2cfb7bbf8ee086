import Foundation
import IoTCore
import NIOCore
import Synchronization
import Testing

@testable import RecordingStore

@Suite("The files of a real disk", .timeLimit(.minutes(1)))
struct POSIXRecordingFilesTests {
    @Test("What is written is read, also many buffers at once")
    func writeAndRead() throws {
        let directory = TemporaryDirectory()
        let files = POSIXRecordingFiles(path: directory.path, requiresMount: false)
        #expect(try files.attach() == nil)
        let uuid = String(repeating: "a", count: 32)
        try files.initialise(uuid: uuid)
        #expect(try files.attach() == uuid)
        let file = try files.create("00000001/00000001.mp4")
        #expect(try files.reserve(file, size: 1 << 20))
        #expect(try files.size(of: file) == 0)
        let buffers = (0..<2_500).map { ByteBuffer(repeating: UInt8(truncatingIfNeeded: $0), count: $0 % 7) }
        let bytes = buffers.flatMap { $0.readableBytesView }
        try files.write(buffers, to: file, at: 3)
        #expect(try files.size(of: file) == Int64(bytes.count + 3))
        #expect(try Array(files.read(file, at: 3, count: 100_000).readableBytesView) == bytes)
        try files.sync(file)
        try files.syncDirectory("00000001")
        try files.truncate(file, to: 10)
        #expect(try files.size(of: file) == 10)
        var status = stat()
        // The reserved space is returned.
        #expect(stat(directory.path + "/00000001/00000001.mp4", &status) == 0 && status.st_blocks <= 16)
        #expect(status.st_mode & 0o777 == 0o640)
        #expect(try files.list("00000001") == ["00000001.mp4"] && files.list("none").isEmpty)
        try files.remove("00000001/00000001.mp4")
        #expect(throws: FileFailure(.remove, "00000001/00000001.mp4", ENOENT)) {
            try files.remove("00000001/00000001.mp4")
        }
        #expect(try files.space().free > 0)
    }

    @Test("A directory that was replaced is noticed, and a path that is no mount point is refused")
    func replaced() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/disk"
        mkdir(path, 0o700)
        let files = POSIXRecordingFiles(path: path, requiresMount: false)
        _ = try files.attach()
        try files.checkAttached()
        rename(path, path + "-away")
        #expect(throws: FileFailure.self) { try files.checkAttached() }
        mkdir(path, 0o700)
        #expect(throws: FileFailure.self) { try files.checkAttached() }
        #expect(throws: FileFailure.self) { try POSIXRecordingFiles(path: path, requiresMount: true).attach() }
        #expect(throws: FileFailure.self) {
            try POSIXRecordingFiles(path: path + "-none", requiresMount: false).attach()
        }
    }

    @Test("A marker that is a link, or damaged, is refused")
    func markers() throws {
        let directory = TemporaryDirectory()
        let files = POSIXRecordingFiles(path: directory.path, requiresMount: false)
        let marker = directory.path + "/" + POSIXRecordingFiles.marker
        try "iotvideod recordings 1\ndisk ../x\n".write(toFile: marker, atomically: false, encoding: .utf8)
        #expect(throws: FileFailure.self) { try files.attach() }
        unlink(marker)
        symlink("/etc/passwd", marker)
        #expect(throws: FileFailure.self) { try files.attach() }
    }

    @Test("A disk's thread records on a real disk, and a second one finds everything")
    func thread() throws {
        let directory = TemporaryDirectory()
        let index = try RecordingIndex(path: directory.path + "/index.sqlite")
        try index.commit([.putCamera(.front, name: "front")])
        let path = directory.path + "/disk"
        mkdir(path, 0o700)
        let events = Mutex<[String]>([])
        func start() -> RecordingDisk {
            var configuration = DiskConfiguration(path: path)
            configuration.floor = 0
            return RecordingDisk(
                files: POSIXRecordingFiles(path: path, requiresMount: false), index: index, scanner: PlainScanner(),
                leases: SegmentLeases(), configuration: configuration
            ) { event in
                if case .resumed = event { events.withLock { $0.append("resumed") } }
            }
        }
        let wall: Int64 = 1_764_000_000_000_000
        for round in 0..<2 as Range<Int64> {
            let disk = start()
            let begin = wall + round * 100_000_000
            for number in 0..<50 {
                if number % 10 == 0 {
                    disk.begin(
                        SegmentOpening(header: PlainSegment.header, sampleEntry: [1], run: .sample(at: begin)),
                        of: .front)
                }
                let media = Int64(number) * 1_000_000
                disk.append(PlainSegment.fragment(number, wall: begin + media, media: media), of: .front)
                if number % 10 == 9 { disk.end(PlainSegment.ending, of: .front) }
            }
            disk.stop()
            #expect(disk.report.dropped.isEmpty)
        }
        let ranges = try index.ranges(RecordingQuery(camera: .front, times: 0..<Int64.max, limit: 10)).entries
        #expect(ranges.map(\.times) == [wall..<wall + 50_000_000, wall + 100_000_000..<wall + 150_000_000])
        let files = POSIXRecordingFiles(path: path, requiresMount: false)
        _ = try files.attach()
        let report = try DiskCheck(files: files, index: index, scanner: PlainScanner()).run(disk: 1, isThorough: true)
        #expect(report.isSound && report.segments == 10, "\(report.findings)")
        #expect(events.withLock { $0 } == ["resumed", "resumed"])
    }
}
