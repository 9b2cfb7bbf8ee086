import IoTCore
import MediaCodec
import NIOCore
import TestSupport
import Testing

@testable import RecordingStore

@Suite("Recovery of MP4 segments", .timeLimit(.minutes(2)))
struct MP4RecoveryTests {
    private let wall: Int64 = 1_764_000_000_000_000

    /// Records sound in segments of six seconds.
    ///
    /// - Parameter stall: the seconds during which the disk takes nothing.
    private func record(
        seconds: Int64, stall: Range<Int64> = 0..<0, stops: Bool
    ) throws -> (disk: LoggedDisk, index: RecordingIndex, dropped: Int) {
        let disk = LoggedDisk()
        let index = try RecordingIndex(path: nil)
        let logged = LoggedIndex(index: index, disk: disk)
        try logged.commit([.putCamera(.front, name: "front")])
        var configuration = DiskConfiguration(path: "/disk")
        configuration.floor = 0
        var disks = DiskWriter(
            files: disk, index: logged, scanner: MP4SegmentScanner(), leases: SegmentLeases(),
            configuration: configuration)
        var now = Moment(monotonic: 0, wall: wall)
        disks.tick(at: now)
        let tracks = SegmentTracks(
            audio: AudioParameters(codec: .aac, sampleRate: 48_000, channels: 2, audioSpecificConfig: [0x11, 0x90]))
        var queue = CameraQueue(limit: 20_000)
        var segment: SegmentWriter?
        var random = SeededGenerator(seed: 1)
        var dropped = 0
        func append(_ fragment: Fragment?) {
            guard let fragment else { return }
            dropped += queue.append(StoredFragment(fragment))?.count ?? 0
        }
        func end() {
            guard var last = segment.take() else { return }
            append(last.flush())
            queue.end(SegmentEnding(last.close()))
        }
        let start = now
        for frame in 0..<seconds * 48_000 / 1_024 {
            let time = frame * 1_024 * 1_000_000 / 48_000
            // 6.016 s
            if frame % 282 == 0 {
                end()
                let next = try SegmentWriter(tracks: tracks, start: time, created: wall + time)
                queue.begin(
                    SegmentOpening(header: next.header, sampleEntry: [], run: .sample(at: wall)))
                segment = next
            }
            let bytes = ByteBuffer(bytes: random.bytes(100))
            append(
                try segment?.append(
                    MediaFrame(kind: .audio, isKeyFrame: true, pts: time, dts: time, bytes: bytes),
                    wallClock: wall + time))
            now = Moment(monotonic: start.monotonic + time, wall: wall + time)
            if stall.contains(time / 1_000_000) { continue }
            while let step = queue.next() { _ = disks.write(step, of: .front, at: now) }
            disks.tick(at: now)
        }
        end()
        while let step = queue.next() { _ = disks.write(step, of: .front, at: now) }
        if stops { disks.stop(at: now) }
        return (disk, index, dropped)
    }

    private func check(_ disk: LoggedDisk, _ index: RecordingIndex) throws -> CheckReport {
        _ = try disk.attach()
        return try DiskCheck(files: disk, index: index, scanner: MP4SegmentScanner()).run(disk: 1, isThorough: true)
    }

    @Test("Closed segments are those that their writer made, and the files agree with the index")
    func complete() throws {
        let (disk, index, dropped) = try record(seconds: 30, stops: true)
        #expect(dropped == 0)
        let report = try check(disk, index)
        #expect(report.isSound && report.segments == 5, "\(report.findings)")
        let segments = try index.segments(RecordingQuery(camera: .front, times: 0..<Int64.max, limit: 10)).entries
        #expect(segments.allSatisfy { $0.state == .closed })
        let ranges = try index.ranges(RecordingQuery(camera: .front, times: 0..<Int64.max, limit: 10)).entries
        #expect(ranges.count == 1 && abs(ranges[0].times.count - 30_000_000) < 50_000)
    }

    @Test("What follows dropped fragments is in a file of its own, which reads as well")
    func gap() throws {
        let (disk, index, dropped) = try record(seconds: 30, stall: 8..<17, stops: true)
        #expect(dropped > 3)
        let report = try check(disk, index)
        #expect(report.isSound, "\(report.findings)")
        let ranges = try index.ranges(RecordingQuery(camera: .front, times: 0..<Int64.max, limit: 10)).entries
        #expect(ranges.count == 2)
        let segments = try index.segments(RecordingQuery(camera: .front, times: 0..<Int64.max, limit: 10)).entries
        #expect(segments.map(\.state).contains(.cut))
    }

    @Test("After a crash at any moment, whole fragments are kept, also where only the head was missing")
    func crashes() throws {
        let log = try record(seconds: 20, stops: true).disk.log
        var states: Set<SegmentState> = []
        for length in log.indices {
            for unsynced in CrashedDisk.Unsynced.allCases {
                let crashed = try CrashedDisk(log.prefix(length), unsynced, seed: UInt64(length))
                if length == 0 { try crashed.index.commit([.putCamera(.front, name: "front")]) }
                var writer = DiskWriter(
                    files: crashed.disk, index: crashed.index, scanner: MP4SegmentScanner(), leases: SegmentLeases(),
                    configuration: DiskConfiguration(path: "/disk"))
                writer.tick(at: Moment(monotonic: 0, wall: wall))
                let isRecording = writer.isRecording
                try #require(isRecording)
                for event in writer.events {
                    guard case .recovered(let id, let bytes) = event, bytes > 0 else { continue }
                    states.insert(try #require(try crashed.index.segment(id)).record.state)
                }
                writer.stop(at: Moment(monotonic: 1, wall: wall))
                let report = try check(crashed.disk, crashed.index)
                try #require(report.isSound, "\(report.findings) after \(length), \(unsynced)")
            }
        }
        #expect(states == [.closed, .cut])
    }
}
