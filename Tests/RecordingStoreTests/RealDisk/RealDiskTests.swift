import Foundation
import Testing

@testable import RecordingStore

/// A process records onto a real ext4 disk, which is too small, or is unmounted.
@Suite(
    "A real disk", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: LoopDisk.isAvailable, "it needs root and loop devices"))
struct RealDiskTests {
    /// `RECORDED_SECONDS`: an hour by `make test-long`.
    @Test("A full disk: the oldest recordings make room, also where another program takes the space")
    func full() throws {
        let folder = TemporaryDirectory()
        try LoopDisk.makeImage(folder.path + "/disk.img", megabytes: 24)
        let disk = try LoopDisk(image: folder.path + "/disk.img", at: folder.path + "/disk")
        let seconds = Int(ProcessInfo.processInfo.environment["RECORDED_SECONDS"] ?? "") ?? 240
        let writer = try WriterProcess(folder.path)
        let other = disk.mountPoint + "/other"
        for period in 0..<seconds / 40 {
            try writer.read(lines: 40)
            if period % 2 == 0 {
                // As much as there is.
                _ = try? LoopDisk.run(["dd", "if=/dev/zero", "of=\(other)", "bs=1M", "count=6", "status=none"])
            } else {
                try FileManager.default.removeItem(atPath: other)
            }
        }
        try writer.kill()
        try? FileManager.default.removeItem(atPath: other)

        let left = try WrittenDisk(folder.path)
        let records = try left.segments()
        let newest = try #require(writer.synced.keys.map(\.number).max())
        #expect(records.map(\.id.number).max() ?? 0 >= newest, "recording went on")
        #expect(records.count < writer.synced.count, "the oldest were removed")
        for record in records { #expect(try left.read(record) >= writer.synced[record.id] ?? 1, "\(record.id)") }
        try left.checkSound(isThorough: true, "")
    }

    @Test("A disk that is unmounted while it records gets its recordings when it is back, and nothing goes below it")
    func unmounted() throws {
        let folder = TemporaryDirectory()
        try LoopDisk.makeImage(folder.path + "/disk.img", megabytes: 64)
        let disk = try LoopDisk(image: folder.path + "/disk.img", at: folder.path + "/disk")
        let writer = try WriterProcess(folder.path)
        for _ in 0..<3 {
            try writer.read(lines: 10)
            try disk.unmount(lazily: true)
            // The next sync round notices it, and closes everything.
            let deadline = ContinuousClock.now + .seconds(30)
            while disk.isInUse, ContinuousClock.now < deadline { usleep(10_000) }
            #expect(!disk.isInUse)
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk.mountPoint).isEmpty)
            try disk.mount()
        }
        try writer.read(lines: 10)
        try writer.kill()
        let left = try WrittenDisk(folder.path)
        let records = try left.segments()
        #expect(Set(writer.synced.keys).isSubset(of: records.map(\.id)))
        for record in records { #expect(try left.read(record) >= writer.synced[record.id] ?? 1, "\(record.id)") }
        try left.checkSound(isThorough: true, "")
    }
}
