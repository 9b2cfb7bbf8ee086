import Foundation
import TestSupport
import Testing

@testable import RecordingStore

/// A process that records is killed while it writes. `CrashTests` has what a power cut does.
@Suite("A killed recorder", .timeLimit(.minutes(2)))
struct KillTests {
    private static let kills = 20

    /// `CHAOS_SEED` (42) gives other moments.
    @Test("After each of 20 kills, nothing that was synced is lost, and nothing torn is served")
    func kills() throws {
        let seed = UInt64(ProcessInfo.processInfo.environment["CHAOS_SEED"] ?? "") ?? 42
        var generator = SeededGenerator(seed: seed)
        let folder = TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/disk", withIntermediateDirectories: false)
        var promised: [SegmentID: Int] = [:]
        var (interrupted, seen) = (0, Set<SegmentID>())
        for round in 0..<Self.kills {
            let label = Comment(rawValue: "seed \(seed), kill \(round)")
            let writer = try WriterProcess(folder.path, second: round * 10_000)
            try writer.read(lines: Int.random(in: 1...30, using: &generator))
            try writer.kill(after: UInt32.random(in: 0...6_000, using: &generator))
            promised.merge(writer.synced) { max($0, $1) }

            let disk = try WrittenDisk(folder.path)
            let records = try disk.segments()
            #expect(Set(promised.keys).isSubset(of: records.map(\.id)), label)
            for record in records where seen.insert(record.id).inserted {
                if record.state == .cut { interrupted += 1 }
                #expect(try disk.read(record) >= promised[record.id] ?? 1, label)
            }
            try disk.checkSound(isThorough: round == Self.kills - 1, label)
        }
        #expect(interrupted >= Self.kills / 2, "most kills came between two segments")
        print("kill tests: \(seen.count) segments, \(interrupted) of them interrupted")
    }
}
