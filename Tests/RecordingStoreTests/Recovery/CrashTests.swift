import Foundation
import IoTCore
import NIOCore
import Sealing
import TestSupport
import Testing

@testable import RecordingStore

/// With this, all prefixes of the log are tried (`make test-long`), and torn ones four times; otherwise each fifth.
private let isLong = ProcessInfo.processInfo.environment["RECORDING_PREFIXES"] == "all"

@Suite("A crash at any moment", .timeLimit(.minutes(isLong ? 60 : 10)))
struct CrashTests {
    /// A minute of two cameras with segments of a few seconds, a quota that removes old ones, and a clock step.
    private func session(_ keys: [SealingKey]?) throws -> [DiskOperation] {
        var rig = try WriterRig(
            limits: [.front: CameraLimits(bytes: 30_000), .yard: CameraLimits(age: 20_000_000)], keys: keys)
        for second in 0..<70 {
            if second == 30 { rig.stepClock(by: -3_600_000_000, .front) }
            rig.second()
        }
        #expect(rig.dropped == 0)
        return rig.disk.log
    }

    /// What must be readable after a crash: the contents of the files at the end of the last round.
    private struct Promise {
        var lists: [SegmentID: FragmentList] = [:]
        var bytes: [SegmentID: [UInt8]] = [:]

        init(_ log: ArraySlice<DiskOperation>, _ keys: [SealingKey]?) throws {
            let disk = try CrashedDisk(log, .kept, seed: 0).disk
            let files: any RecordingFiles = keys.map { SealedRecordingFiles(disk, keys: $0) } ?? disk
            for path in disk.paths {
                let id = try #require(SegmentID(path: path))
                let file = try files.open(path)
                let size = try files.size(of: file)
                let scan = try PlainScanner().scan(size: size) { offset, count throws(FileFailure) in
                    try files.read(file, at: offset, count: count)
                }
                lists[id] = scan?.list
                bytes[id] = Array(try files.read(file, at: 0, count: Int(size)).readableBytesView)
            }
        }
    }

    @Test(
        "After every prefix of the log, the store opens and has all that was synced",
        arguments: CrashedDisk.Unsynced.allCases, [false, true])
    func everyPrefix(unsynced: CrashedDisk.Unsynced, isEncrypted: Bool) throws {
        let keys = isEncrypted ? [SealingKey()] : nil
        let log = try session(keys)
        var promise = try Promise([], keys)
        var removed: Set<SegmentID> = []
        var tried = 0
        for length in 0...log.count {
            if length > 0 {
                switch log[length - 1] {
                case .roundEnded: promise = try Promise(log.prefix(length), keys)
                case .commit(let changes):
                    for case .discard(let ids) in changes { removed.formUnion(ids) }
                default: break
                }
            }
            guard isLong || length % 5 == 0 else { continue }
            for seed in 0..<(isLong && unsynced == .torn ? 4 : 1) as Range<UInt64> {
                tried += 1
                try recover(log.prefix(length), unsynced, UInt64(length) << 8 + seed, promise, removed, keys)
            }
        }
        #expect(tried >= (isLong ? 450 : 80))
        print(
            "crash tests: \(tried) prefixes of \(log.count) operations, unsynced \(unsynced), encrypted \(isEncrypted)")
    }

    private func recover(
        _ log: ArraySlice<DiskOperation>, _ unsynced: CrashedDisk.Unsynced, _ seed: UInt64, _ promise: Promise,
        _ removed: Set<SegmentID>, _ keys: [SealingKey]?
    ) throws {
        let crashed = try CrashedDisk(log, unsynced, seed: seed)
        let label = "after \(log.count) operations, \(unsynced), seed \(seed)"
        if log.isEmpty { try crashed.index.commit([.putCamera(.front, name: "front")]) }
        var rig = try WriterRig(disk: crashed.disk, index: crashed.index, later: 100_000_000, keys: keys)
        try #require(rig.writer.isRecording, "the store did not open \(label)")
        try #require(try crashed.index.openSegments(on: rig.writer.disk).isEmpty)

        for (id, list) in promise.lists where !removed.contains(id) {
            let file = try rig.files.open(id.path)
            defer { rig.files.close(file) }
            let contents = Array(
                try rig.files.read(file, at: 0, count: Int(try rig.files.size(of: file))).readableBytesView)
            let row = try #require(try crashed.index.segment(id), "\(id) has no row \(label)")
            let expected = try #require(promise.bytes[id])
            let size = Int(list.byteCount)
            // All but the placeholder, which a completed segment overwrites.
            try #require(
                contents.prefix(12).elementsEqual(expected.prefix(12))
                    && contents[28...].prefix(size - 28).elementsEqual(expected[28...].prefix(size - 28)),
                "\(id) differs \(label)")
            try #require(row.list.fragments.count >= list.fragments.count, "\(id) lost fragments \(label)")
            // A later fragment fixes the length of the one before.
            try #require(
                row.list.fragments.map(\.wallStart).starts(with: list.fragments.map(\.wallStart)), "\(id) \(label)")
            try #require(
                row.list.fragments.map(\.byteCount).starts(with: list.fragments.map(\.byteCount)), "\(id) \(label)")
        }
        // The next round removes the garbage.
        for _ in 0..<6 { rig.second([.front]) }
        rig.stop()
        let report = try rig.check()
        try #require(report.isSound, "\(report.findings) \(label)")
        try #require(report.garbage == 0, "garbage \(label)")
        let newest = try #require(try crashed.index.position(of: .front, at: rig.now.wall - 1_500_000), "\(label)")
        try #require(newest.segment.state == .closed && newest.list.fragments.count >= 1)
    }
}
