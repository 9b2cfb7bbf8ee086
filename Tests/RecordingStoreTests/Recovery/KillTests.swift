import Foundation
import IoTCore
import MediaCodec
import NIOCore
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
            let synced = try kill(
                folder, second: round * 10_000, after: Int.random(in: 1...30, using: &generator),
                delay: Int.random(in: 0...6_000, using: &generator))
            promised.merge(synced) { max($0, $1) }

            let index = try RecordingIndex(path: folder.path + "/index.sqlite")
            defer { index.close() }
            let library = try recovered(folder, index)
            #expect(try index.openSegments(on: 1).isEmpty, label)
            let camera = try #require(try index.number(of: "front"))
            let records = try library.segments(
                RecordingQuery(camera: camera, times: 0..<Int64.max, limit: 3_000)
            ).entries
            #expect(Set(promised.keys).isSubset(of: records.map(\.id)), label)
            for record in records where seen.insert(record.id).inserted {
                if record.state == .cut { interrupted += 1 }
                let fragments = try read(library.open(record.id))
                #expect(fragments >= promised[record.id] ?? 1, label)
            }
            let report = try library.check(isThorough: round == Self.kills - 1)
            #expect(report.isSound, "\(report.findings), \(label)")
        }
        #expect(interrupted >= Self.kills / 2, "most kills came between two segments")
        print("kill tests: \(seen.count) segments, \(interrupted) of them interrupted")
    }

    /// - Parameters:
    ///   - second: where the recording begins.
    ///   - limit: kills it after it has synced so often.
    ///   - delay: and then after this time, µs: after a line it is always at the same point.
    /// - Returns: how many fragments of each segment were synced.
    private func kill(
        _ folder: TemporaryDirectory, second: Int, after limit: Int, delay: Int
    ) throws -> [SegmentID: Int] {
        let process = Process()
        // Beside the test program.
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("killed-writer")
        process.arguments = [folder.path, "\(second)"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.start()
        var output = Data()
        var isKilled = false
        while case let part = pipe.fileHandleForReading.availableData, !part.isEmpty {
            output += part
            guard !isKilled, output.count(where: { $0 == 0x0A }) >= limit else { continue }
            isKilled = true
            usleep(UInt32(delay))
            Glibc.kill(process.processIdentifier, SIGKILL)
        }
        process.waitUntilExit()
        try #require(isKilled && process.terminationReason == .uncaughtSignal, "the writer ended by itself")
        var synced: [SegmentID: Int] = [:]
        for line in String(decoding: output, as: UTF8.self).split(separator: "\n") {
            let numbers = line.split(separator: " ").compactMap { Int64($0) }
            try #require(numbers.count == 2, "\(line)")
            synced[try #require(SegmentID(rawValue: numbers[0]))] = Int(numbers[1])
        }
        return synced
    }

    /// Opens the disk, which completes what was interrupted, and closes it.
    private func recovered(_ folder: TemporaryDirectory, _ index: RecordingIndex) throws -> RecordingLibrary {
        let path = folder.path + "/disk"
        let leases = SegmentLeases()
        var configuration = DiskConfiguration(path: path)
        configuration.floor = 0
        let disk = RecordingDisk(
            files: POSIXRecordingFiles(path: path, requiresMount: false), index: index,
            scanner: MP4SegmentScanner(), leases: leases, configuration: configuration
        ) { _ in }
        disk.stop()
        return RecordingLibrary(index: index, disk: disk, leases: leases, path: path) {
            POSIXRecordingFiles(path: path, requiresMount: false)
        }
    }

    /// Reads all frames of a segment: each is whole, and none is missing between them.
    ///
    /// - Returns: the number of fragments.
    private func read(_ recording: OpenRecording) throws -> Int {
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
