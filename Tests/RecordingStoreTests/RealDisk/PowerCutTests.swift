import Foundation
import TestSupport
import Testing

@testable import RecordingStore

/// A power cut on a real file system: a process records, with its index, onto ext4 on a disk that logs what it is sent and
/// when its cache is flushed. Each cut is a disk that has everything up to a moment, but of what was not flushed only a
/// part. What the recorder had promised by then must be there.
@Suite(
    "Power cuts on a real file system", .timeLimit(.minutes(20)),
    .enabled(
        if: LoopDisk.isAvailable && FileManager.default.fileExists(atPath: "/dev/fuse"),
        "it needs root, loop devices and FUSE"))
struct PowerCutTests {
    private static let count = Int(ProcessInfo.processInfo.environment["POWER_CUTS"] ?? "") ?? 20

    /// `CHAOS_SEED` (42) gives other moments, `POWER_CUTS` (20) more of them.
    @Test("After each power cut, every segment is there up to its last sync round, and the index agrees with the files")
    func cuts() throws {
        let seed = UInt64(ProcessInfo.processInfo.environment["CHAOS_SEED"] ?? "") ?? 42
        var generator = SeededGenerator(seed: seed)
        let folder = TemporaryDirectory()
        let base = folder.path + "/base.img"
        try LoopDisk.makeImage(base, megabytes: 96)
        let (log, promises) = try record(folder.path, base)
        let first = try #require(promises.first?.end)
        var image = try Data(contentsOf: URL(fileURLWithPath: base))
        var durable = 0
        var checked = 0
        for end in (0..<Self.count).map({ _ in Int.random(in: first...log.bytes, using: &generator) }).sorted() {
            let label = Comment(rawValue: "seed \(seed), \(end) bytes of the log")
            let sent = log.entries.prefix { $0.end <= end }
            let flushed = sent.lastIndex { $0.isFlush } ?? 0
            for entry in log.entries[durable..<flushed] { entry.apply(to: &image) }
            durable = flushed
            var cut = image
            for entry in sent[flushed...] { entry.apply(to: &cut, with: &generator) }
            let file = folder.path + "/cut.img"
            try cut.write(to: URL(fileURLWithPath: file))
            let disk = try LoopDisk(image: file, at: folder.path + "/cut")
            try withExtendedLifetime(disk) { checked += try check(disk.mountPoint, promises, at: end, label) }
        }
        print("power cuts: \(Self.count), \(checked) segments read, \(log.entries.count(where: \.isFlush)) flushes")
    }

    private struct Promise {
        let segment: SegmentID
        let fragments: Int
        /// The bytes of the log when it was given.
        let end: Int
    }

    private func record(_ folder: String, _ base: String) throws -> (DiskLog, [Promise]) {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let programs = try LoopDisk.run([
            root.appendingPathComponent("../../python-environment.sh").path, "logged-disk",
            root.appendingPathComponent("LoggedDisk/requirements.txt").path,
        ])
        let (fuse, log) = (folder + "/fuse", folder + "/log")
        try FileManager.default.createDirectory(atPath: fuse, withIntermediateDirectories: false)
        let server = Process()
        server.executableURL = URL(fileURLWithPath: programs + "/python3")
        server.arguments = [root.appendingPathComponent("LoggedDisk/logged_disk.py").path, base, fuse, log]
        try server.start()
        let deadline = ContinuousClock.now + .seconds(30)
        while !FileManager.default.fileExists(atPath: fuse + "/disk.img"), ContinuousClock.now < deadline {
            usleep(20_000)
        }
        defer {
            _ = try? LoopDisk.run(["fusermount3", "-u", fuse])
            server.waitUntilExit()
        }
        let disk = try LoopDisk(image: fuse + "/disk.img", at: folder + "/recorded")
        try FileManager.default.createDirectory(atPath: disk.mountPoint + "/disk", withIntermediateDirectories: false)
        let writer = try WriterProcess(disk.mountPoint)
        var promises: [Promise] = []
        try writer.read(lines: 80) { segment, fragments in
            let bytes = try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int ?? 0
            promises.append(Promise(segment: segment, fragments: fragments, end: bytes))
        }
        try writer.kill()
        let recorded = try DiskLog(Data(contentsOf: URL(fileURLWithPath: log)))
        return (recorded, promises)
    }

    /// - Returns: how many segments were read.
    private func check(_ directory: String, _ promises: [Promise], at end: Int, _ label: Comment) throws -> Int {
        var promised: [SegmentID: Int] = [:]
        for promise in promises where promise.end <= end { promised[promise.segment] = promise.fragments }
        let left = try WrittenDisk(directory)
        let records = try left.segments()
        #expect(Set(promised.keys).isSubset(of: records.map(\.id)), label)
        for record in records { #expect(try left.read(record) >= promised[record.id] ?? 1, label) }
        try left.checkSound(isThorough: true, label)
        return records.count
    }
}
