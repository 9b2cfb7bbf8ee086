import Foundation
import IoTCore
import MediaCodec
import NIOCore
import RecordingStore
import Testing

@testable import MediaChannel

/// Reading what a disk's thread has recorded in a real directory, while it records and after that.
@Suite("Recordings as a source of playback")
struct StoredRecordingsTests {
    private static let wall = RecordedDisk.wall

    /// Everything from a time on, as a session would read it.
    private func read(
        _ source: StoredRecordings, from time: Int64, keyFramesOnly: Bool = false
    ) throws -> (frames: [MediaFrame], items: [Int64], unreadable: [ErrorCode], isLater: Bool) {
        var (frames, items, unreadable): ([MediaFrame], [Int64], [ErrorCode]) = ([], [], [])
        var want = RecordedWant.at(time)
        var last: RecordedItem?
        while true {
            switch try source.read(want, keyFramesOnly: keyFramesOnly) {
            case .chunk(let chunk):
                frames += chunk.frames
                if items.last != chunk.item.id { items.append(chunk.item.id) }
                (last, want) = (chunk.item, .following(chunk.place))
            case .unreadable(let item, let error):
                unreadable.append(error.code)
                (last, want) = (item, .itemAfter(item))
            case .later: return (frames, items, unreadable, true)
            case .none:
                guard case .following = want, let item = last else { return (frames, items, unreadable, false) }
                want = .itemAfter(item)
            }
        }
    }

    private func tail(_ frame: MediaFrame) -> [UInt8] { RecordedDisk.tail(frame) }

    @Test("Every recorded picture comes once, with its time since 1970; a missing file is told and skipped")
    func complete() throws {
        let disk = try RecordedDisk()
        let recorded = try disk.record().filter { $0.kind == .video }
        disk.write(disk.recording.end())
        disk.disk.stop()
        let source = disk.stored()
        let all = try read(source, from: Self.wall)
        let pictures = all.frames.filter { $0.kind == .video }
        #expect(all.items.count >= 2 && all.unreadable.isEmpty && !all.isLater)
        #expect(pictures.map(tail) == recorded.map(tail))
        #expect(zip(pictures, recorded).allSatisfy { abs($0.pts - Self.wall - $1.pts) < 35_000 })
        #expect(all.frames.contains { $0.kind == .audio })
        let keys = try read(source, from: Self.wall, keyFramesOnly: true).frames
        #expect(keys.map(tail) == recorded.filter(\.isKeyFrame).map(tail))

        let list = try source.list(try RecordedListQuery(times: Self.wall..<Self.wall + 60_000_000, countPerPage: 2))
        #expect(list.items.map(\.id) == Array(all.items.prefix(2)) && list.totalPage == (all.items.count + 1) / 2)
        #expect(try source.days(in: Self.wall..<Self.wall + 60_000_000, by: .zone("UTC")).count == 1)

        let second = try #require(SegmentID(rawValue: all.items[1]))
        try FileManager.default.removeItem(atPath: disk.directory + "/rec/" + second.path)
        let rest = try read(disk.stored(), from: Self.wall)
        #expect(rest.items == all.items.filter { $0 != all.items[1] } && rest.unreadable == [.downloadOpenFailed])
    }

    @Test("A growing recording is read to its end, which the index does not know yet")
    func growing() async throws {
        let disk = try RecordedDisk()
        let source = disk.stored()
        let recorded = try disk.record(until: 2_500_000)
        while disk.disk.growing(disk.camera)?.list.fragments.count ?? 0 < 2 { await Task.yield() }
        let first = try read(source, from: Self.wall + 1_500_000)
        #expect(first.isLater && first.frames.contains { $0.kind == .video })
        let rest = try disk.record()
        disk.write(disk.recording.end())
        disk.disk.stop()
        let all = try read(source, from: Self.wall)
        #expect(!all.isLater)
        #expect(
            all.frames.filter { $0.kind == .video }.map(tail)
                == (recorded + rest).filter { $0.kind == .video }.map(tail))
    }
}
