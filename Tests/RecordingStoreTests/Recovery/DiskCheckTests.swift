import GRDB
import IoTCore
import Synchronization
import Testing

@testable import RecordingStore

@Suite("The check of a disk's recordings")
struct DiskCheckTests {
    private func stopped() throws -> (rig: WriterRig, ids: [SegmentID]) {
        var rig = try WriterRig()
        for _ in 0..<20 { rig.second([.front]) }
        rig.stop()
        #expect(try rig.check().isSound)
        return (rig, rig.disk.paths.compactMap { SegmentID(path: $0) })
    }

    /// Changes a file behind the store's back.
    private func change(_ rig: WriterRig, _ id: SegmentID, _ body: (inout [UInt8]) -> Void) {
        rig.disk.state.withLock { state in
            guard let inode = state.names[id.path] else { return }
            body(&state.inodes[inode, default: []])
        }
    }

    @Test("Each kind of damage is found")
    func damage() throws {
        let (rig, ids) = try stopped()
        change(rig, ids[0]) { $0.removeLast() }
        change(rig, ids[1]) { $0[100] ^= 1 }
        rig.disk.state.withLock { state in
            state.names[ids[2].path] = nil
            state.names["00000001/000000ff.mp4"] = state.names[ids[3].path]
            state.names["00000001/film.mp4"] = state.names[ids[3].path]
        }
        let size = Int64(try #require(rig.disk.contents(ids[3].path)).count)
        let report = try rig.check()
        #expect(
            Set(report.findings) == [
                .sizeDiffers(ids[0], index: size, file: size - 1), .fragmentsDiffer(ids[0], index: 4, file: 4),
                .fragmentsDiffer(ids[1], index: 4, file: 0), .fileMissing(ids[2]),
                .fileUnknown(path: "00000001/000000ff.mp4", bytes: size),
                .fileUnknown(path: "00000001/film.mp4", bytes: size),
            ])
        #expect(report.findingCount == 6 && report.segments == ids.count)
    }

    @Test("Damage of the index is found, and a quick check does not read the files' fragments")
    func index() throws {
        let (rig, ids) = try stopped()
        change(rig, ids[1]) { $0[100] ^= 1 }
        try rig.index.opened().write { database in
            try database.execute(
                sql: "UPDATE segment SET fragments = x'0107' WHERE id = ?", arguments: [ids[0].rawValue])
            try database.execute(sql: "UPDATE usage SET bytes = bytes + 1")
            try database.execute(sql: "DELETE FROM run")
        }
        _ = try rig.disk.attach()
        let report = try DiskCheck(files: rig.disk, index: rig.index, scanner: PlainScanner())
            .run(disk: rig.writer.disk, isThorough: false)
        #expect(report.findings.contains(.listDamaged(ids[0])))
        #expect(report.findings.filter { if case .usageDiffers = $0 { true } else { false } }.count == 1)
        #expect(report.findings.filter { if case .runMissing = $0 { true } else { false } }.count == ids.count)
        #expect(!report.findings.contains { if case .fragmentsDiffer = $0 { true } else { false } })
    }

    @Test("A check beside a recording finds nothing")
    func beside() throws {
        var rig = try WriterRig()
        for _ in 0..<33 {
            rig.second()
            let report = try DiskCheck(files: rig.disk, index: rig.index, scanner: PlainScanner())
                .run(disk: rig.writer.disk, isThorough: true)
            #expect(report.isSound, "\(report.findings)")
        }
    }
}
