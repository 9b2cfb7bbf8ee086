import Dispatch
import IoTCore
import Synchronization
import Testing

@testable import RecordingStore

@Suite("A disk's thread")
struct RecordingDiskTests {
    @Test("What a full disk refused is written when it has space again, and nothing else has come meanwhile")
    func full() throws {
        let files = LoggedDisk()
        files.state.withLock { $0.capacity = 0 }
        let index = try RecordingIndex(path: nil)
        try index.commit([.putCamera(.front, name: "front")])
        var configuration = DiskConfiguration(path: "/disk")
        configuration.floor = 0
        let clock = Mutex(Moment(monotonic: 1_000_000_000, wall: 1_764_000_000_000_000))
        let isFull = DispatchSemaphore(value: 0)
        let disk = RecordingDisk(
            files: files, index: index, scanner: PlainScanner(), leases: SegmentLeases(),
            configuration: configuration, clock: { clock.withLock { $0 } }
        ) { event in
            if case .full(.front) = event { isFull.signal() }
        }
        let start = clock.withLock { $0.wall }
        disk.begin(
            SegmentOpening(header: PlainSegment.header, sampleEntry: [1], run: .sample(at: start)), of: .front)
        disk.append(PlainSegment.fragment(0, wall: start, media: 0), of: .front)
        #expect(isFull.wait(timeout: .now() + 60) == .success)
        #expect(disk.report.waiting[.front] ?? 0 > 0 && files.paths.isEmpty)
        files.state.withLock { $0.capacity = .max }
        clock.withLock { $0.monotonic += 2_000_000 }
        disk.stop()
        #expect(disk.report.dropped.isEmpty && disk.report.waiting[.front] == 0)
        let ranges = try index.ranges(RecordingQuery(camera: .front, times: 0..<Int64.max, limit: 10)).entries
        #expect(ranges.map(\.times) == [start..<start + 1_000_000])
    }
}
