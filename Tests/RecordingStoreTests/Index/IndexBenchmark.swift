import Foundation
import GRDB
import IoTCore
import Testing

@testable import RecordingStore

/// The figures of docs/performance.md, "Recordings": `RECORDING_BENCHMARK=1 swift test --filter IndexBenchmark`.
@Suite(
    "A million segments in the index", .enabled(if: ProcessInfo.processInfo.environment["RECORDING_BENCHMARK"] != nil))
struct IndexBenchmark {
    private static let cameras: Int64 = 4
    private static let segments: Int64 = 250_000
    private let start: Int64 = 1_740_000_000_000_000

    /// Segments of a minute, for 173 days of each camera, with a gap of ten minutes a day.
    private func fill(_ index: RecordingIndex) throws {
        try index.commit([.putDisk(DiskRecord(id: 1, uuid: "u", path: "/disk"))])
        var list = FragmentList(headerSize: 1_000)
        for second in 0..<60 as Range<Int64> {
            list.append(
                FragmentFacts(
                    mediaStart: second * 1_000_000, mediaDuration: 1_000_000, wallStart: start + second * 1_000_200,
                    byteCount: 500_000, startsWithKeyFrame: true))
        }
        let blob = Data(list.bytes)
        print("bytes of a minute's fragments: \(blob.count)")
        for camera in 1...Self.cameras {
            let number = try #require(CameraNumber(rawValue: Int32(camera)))
            try index.commit([.putCamera(number, name: "camera \(camera)")])
            try index.opened().write { database in
                try database.execute(sql: "INSERT OR IGNORE INTO sample_entry (bytes) VALUES (x'00')")
                try database.execute(
                    sql: """
                        WITH RECURSIVE counter(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counter WHERE n + 1 < ?)
                        INSERT INTO segment
                            (id, camera, run, disk, sample_entry, start, duration, bytes, state, reason, fragments)
                        SELECT (? << 32) + n + 1, ?, (? << 32) + 1 + n / 1430 * 1430, 1, 1,
                            ? + n * 60000000 + n / 1430 * 600000000, 60000000, 30000000, 1, n % 50 = 0, ? FROM counter
                        """, arguments: [Self.segments, camera, camera, camera, start, blob])
            }
        }
    }

    private func measure(_ name: String, _ count: Int, _ body: (Int) throws -> Int) rethrows {
        var times: [Double] = []
        var found = 0
        for number in 0..<count {
            let begin = ContinuousClock.now
            found += try body(number)
            let time = ContinuousClock.now - begin
            times.append(Double(time.components.attoseconds) / 1e15 + Double(time.components.seconds) * 1e3)
        }
        times.sort()
        let p95 = times[min(times.count - 1, times.count * 95 / 100)]
        print(
            "\(name): p50 \(String(format: "%.2f", times[times.count / 2])) ms, p95 \(String(format: "%.2f", p95)) ms, "
                + "\(found / count) found")
    }

    @Test("Figures")
    func figures() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/index.sqlite"
        var index = try RecordingIndex(path: path)
        try fill(index)
        index.close()
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64 ?? 0
        print("index: \(Self.cameras * Self.segments) segments, \(size >> 20) MiB")

        try measure("open, with usage, open segments and garbage", 20) { _ in
            index = try RecordingIndex(path: path)
            defer { index.close() }
            return try index.usage(on: 1).count + index.openSegments(on: 1).count + index.garbage(on: 1).count
        }
        index = try RecordingIndex(path: path)
        let camera = try #require(CameraNumber(rawValue: 2))
        let berlin = try ZoneRules(name: "Europe/Berlin")
        let all = Int64.min..<Int64.max
        try measure("days of all recordings, Europe/Berlin", 50) { _ in
            try index.days(of: camera, in: all, zone: berlin).count
        }
        let days = try index.days(of: camera, in: all, zone: berlin)
        func times(_ number: Int) -> Range<Int64> {
            let day = days[number * 37 % days.count].seconds
            return day.lowerBound * 1_000_000..<day.upperBound * 1_000_000
        }
        try measure("a day's segments", 200) { number in
            try index.segments(RecordingQuery(camera: camera, times: times(number), limit: 3_200)).entries.count
        }
        try measure("a day's ranges", 200) { number in
            try index.ranges(RecordingQuery(camera: camera, times: times(number), limit: 3_200)).entries.count
        }
        let leases = SegmentLeases()
        let disk = RecordingDisk(
            files: LoggedDisk(), index: index, scanner: PlainScanner(), leases: leases,
            configuration: DiskConfiguration(path: "/disk")
        ) { _ in }
        defer { disk.stop() }
        let library = RecordingLibrary(
            index: index, disks: [LibraryDisk(disk: disk, path: "/disk") { LoggedDisk() }], leases: leases)
        try measure("a day's parts for the first time", 40) { number in
            try library.stream(of: camera, in: times(number)).parts.count
        }
        try measure("a day's parts again", 40) { _ in
            try library.stream(of: camera, in: times(39)).parts.count
        }
        try measure("the fragment at a time", 1_000) { number in
            let time = start + Int64(number) * 7_777_777_777 % (Self.segments * 60_000_000)
            return try index.position(of: camera, at: time) == nil ? 0 : 1
        }
        // Half of the camera's recordings are kept.
        let first = try #require(days.first)
        let most = HoldRecord(
            id: 1, camera: camera,
            times: first.seconds.lowerBound * 1_000_000..<days[days.count / 2].seconds.upperBound * 1_000_000)
        try index.commit([.hold(most)])
        try measure("the next segments to remove", 200) { _ in
            try index.removable(on: 1, camera: nil, before: .max, leases: [], limit: 16).count
        }
        let other = try #require(CameraNumber(rawValue: 3))
        try measure("open a segment, with two syncs of the log", 100) { number in
            let id = SegmentID(camera: other, number: UInt32(Self.segments) + 10 + UInt32(number))
            try index.add(id, start: start + Int64(number))
            return 1
        }
    }
}
