import IoTCore
import Testing

@testable import RecordingStore

@Suite("The parts of a playlist that are remembered")
struct StreamCacheTests {
    private let start: Int64 = 1_764_000_000_000_000
    private let all: Range<Int64> = 0..<Int64.max

    private func id(_ number: UInt32) -> SegmentID { SegmentID(camera: .front, number: number) }

    private func records(_ index: RecordingIndex) throws -> [SegmentRecord] {
        try index.segments(RecordingQuery(camera: .front, times: all, limit: 100)).entries
    }

    @Test("Remembered parts are those of the index; a growing segment is not remembered, nor one that was removed")
    func parts() throws {
        let index = try RecordingIndex.sample()
        try index.addRun(.front, first: 1, count: 3, start: start)
        try index.add(id(4), run: id(1), start: start + 180_000_000, seconds: 10, state: .open, beginsRun: false)
        let cache = StreamCache()
        for _ in 0..<2 {
            let found = try cache.parts(of: records(index), in: index)
            #expect(Set(found.keys) == [id(1), id(2), id(3)])
            for (id, entry) in found {
                let list = try #require(try index.segment(id)?.list)
                #expect(entry.parts == RecordedPart.parts(of: id, list, isGrowing: false) && entry.parts.count == 15)
                #expect(entry.tracks == found[self.id(1)]?.tracks)
            }
        }
        // It is complete now, and has a part more.
        let list = try #require(try index.segment(id(4))?.list)
        try index.commit([.finish(id(4), SegmentExtent(list: list, byteCount: list.byteCount), .closed)])
        #expect(try cache.parts(of: records(index), in: index)[id(4)]?.parts.count == 3)
        let before = try records(index)
        try index.commit([.discard([id(2)])])
        #expect(try cache.parts(of: records(index), in: index)[id(2)] == nil)
        #expect(before.count == 4)
    }

    @Test("When the clock is corrected, the parts have the right times")
    func correctedClock() throws {
        let index = try RecordingIndex.sample()
        try index.addRun(.front, first: 1, count: 2, start: 60_000_000)
        let cache = StreamCache()
        #expect(try cache.parts(of: records(index), in: index)[id(2)]?.parts.first?.start == 120_000_000)
        try index.commit([.shift(runs: [id(1)], by: start, .synchronised)])
        #expect(try cache.parts(of: records(index), in: index)[id(2)]?.parts.first?.start == start + 120_000_000)
    }
}
