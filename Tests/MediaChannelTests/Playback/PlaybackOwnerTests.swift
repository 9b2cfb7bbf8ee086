import Foundation
import IoTCore
import RecordingStore
import Synchronization
import Testing

@testable import MediaChannel

@Suite("Playback after a change of the owner")
struct PlaybackOwnerTests {
    private func list(_ disk: RecordedDisk) throws -> [Int64] {
        let times = RecordedDisk.wall - 1..<RecordedDisk.wall + 60_000_000
        return try disk.stored().list(try RecordedListQuery(times: times)).items.map(\.id)
    }

    @Test("An earlier owner's recordings are not listed, opened or played, nor the growing one; later ones are")
    func newOwner() async throws {
        let disk = try RecordedDisk()
        let library = disk.library
        let changes = Atomic(0)
        library.onOwnerChange(of: disk.camera) { changes.add(1, ordering: .relaxed) }
        try library.note(ownership: 1, of: disk.camera, mayBeOld: false)
        #expect(changes.load(ordering: .relaxed) == 0, "what is there is the first owner's")
        _ = try disk.record(until: 4_000_000)
        while disk.disk.growing(disk.camera)?.list.fragments.isEmpty != false { await Task.yield() }
        let earlier = try list(disk)
        let first = try #require(earlier.first.flatMap(SegmentID.init))
        #expect(library.growing(disk.camera) != nil)
        _ = try library.open(first)

        for _ in 1...2 { try library.note(ownership: 2, of: disk.camera, mayBeOld: false) }
        #expect(changes.load(ordering: .relaxed) == 2, "before and after the note")
        #expect(try list(disk).isEmpty && library.growing(disk.camera) == nil)
        #expect(throws: IoTError.self) { try library.open(first) }
        #expect(try disk.stored().tracks() == nil)
        guard case .none = try disk.stored().read(.at(RecordedDisk.wall), keyFramesOnly: false) else {
            Issue.record("an earlier owner's recording is played")
            return
        }
        // An answer of the hub from before the change comes late.
        try library.note(ownership: 1, of: disk.camera, mayBeOld: true)
        #expect(try disk.index.ownership(of: disk.camera) == 2 && changes.load(ordering: .relaxed) == 2)

        _ = try disk.record()
        disk.write(disk.recording.end())
        disk.disk.stop()
        let later = try list(disk)
        #expect(!later.isEmpty && !later.contains { earlier.contains($0) })
        guard case .chunk(let chunk) = try disk.stored().read(.at(RecordedDisk.wall), keyFramesOnly: false) else {
            Issue.record("the owner's own recording is not played")
            return
        }
        #expect(chunk.item.id == later.first)
    }

    @Test("Of answers that come at once, the one with the newest owner stays")
    func atOnce() throws {
        let disk = try RecordedDisk()
        let (library, camera) = (disk.library, disk.camera)
        for round in 0..<50 {
            DispatchQueue.concurrentPerform(iterations: 4) { number in
                do {
                    try library.note(ownership: Int64(round * 4 + 4 - number), of: camera, mayBeOld: true)
                } catch {
                    Issue.record(error)
                }
            }
            #expect(try disk.index.ownership(of: camera) == Int64(round * 4 + 4))
        }
    }
}
