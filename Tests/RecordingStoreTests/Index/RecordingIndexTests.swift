import Dispatch
import IoTCore
import Synchronization
import Testing

@testable import RecordingStore

@Suite("The index of recordings")
struct RecordingIndexTests {
    private let minute: Int64 = 60_000_000
    /// 2025-11-24 16:00 UTC.
    private let start: Int64 = 1_764_000_000_000_000

    private func id(_ number: UInt32, _ camera: CameraNumber = .front) -> SegmentID {
        SegmentID(camera: camera, number: number)
    }

    @Test("Every kind of row is as it was stored, also after the file was opened again")
    func rows() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/index.sqlite"
        let index = try RecordingIndex(path: path)
        let disk = DiskRecord(id: try index.nextDiskID(), uuid: "u1", path: "/disk")
        let run = RunRecord(id: id(1), facts: .sample(at: start, quality: .unsynchronised))
        try index.commit([.putDisk(disk), .putCamera(.front, name: "front"), .beginRun(run)])
        let record = try index.add(id(1), run: id(1), start: start, beginsRun: false)
        try index.add(id(2), run: id(1), start: start + minute, seconds: 5, state: .open)
        try index.commit([.endRun(id(1), .clockStep), .endRun(id(1), .stopped)])
        index.close()

        let again = try RecordingIndex(path: path)
        #expect(try again.disk(path: "/disk") == disk && again.disk(uuid: "u1") == disk)
        #expect(try again.nextDiskID() == 2 && again.nextSegment(of: .front) == 3 && again.nextSegment(of: .yard) == 1)
        let stored = try #require(try again.segment(id(1)))
        #expect(stored.record == record && stored.list.fragments.count == 60)
        #expect(try again.sampleEntry(of: id(1)) == [1, 2, 3])
        #expect(try again.openSegments(on: 1).map(\.record.id) == [id(2)])
        #expect(try again.openSegments(on: 1).first?.list.fragments.count == 5)
        #expect(try again.run(id(1))?.end == .clockStep)
        #expect(try again.usage(on: 1) == [.front: 31_000 + 3_500])
        for suffix in ["", "-wal"] {
            #expect(FileSecrecy.owner.allows(path: path + suffix))
        }
    }

    @Test("An index can be closed while other threads use it: they end their work or get an error")
    func closedBesideReads() throws {
        let directory = TemporaryDirectory()
        for round in 0..<100 {
            let index = try RecordingIndex(path: directory.path + "/index-\(round).sqlite")
            try index.commit([.putCamera(.front, name: "front")])
            let failures = Mutex<Set<ErrorCode>>([])
            DispatchQueue.concurrentPerform(iterations: 3) { thread in
                if thread == 1 { return index.close() }
                // A bound, because a thread may not run before the index is closed.
                for _ in 0..<10_000 {
                    do throws(IoTError) {
                        guard try index.number(of: "front") == .front else { break }
                    } catch {
                        _ = failures.withLock { $0.insert(error.code) }
                        break
                    }
                }
            }
            #expect(failures.withLock { $0 } == [.storeFailed])
            #expect(throws: IoTError.self) { try index.commit([.putCamera(.yard, name: "yard")]) }
        }
    }

    @Test("A commit is stored as a whole or not at all")
    func atomic() throws {
        let index = try RecordingIndex.sample()
        try index.add(id(1), start: start)
        // The second segment has the number of the first one.
        #expect(throws: IoTError.self) {
            try index.commit([
                .openSegment(SegmentRecord(id: id(2), run: id(1), disk: 1, start: start), sampleEntry: []),
                .openSegment(SegmentRecord(id: id(1), run: id(1), disk: 1, start: start), sampleEntry: []),
            ])
        }
        #expect(try index.segment(id(2)) == nil && index.nextSegment(of: .front) == 2)
    }

    @Test("A removed segment is garbage until its file is gone, and its number is not used again")
    func removal() throws {
        let index = try RecordingIndex.sample()
        try index.addRun(.front, first: 1, count: 3, start: start)
        try index.commit([.discard([id(3), id(9)])])
        #expect(try index.garbage(on: 1) == [id(3)] && index.segment(id(3)) == nil)
        #expect(try index.usage(on: 1) == [.front: 62_000])
        try index.commit([.forget([id(3)])])
        #expect(try index.garbage(on: 1).isEmpty && index.nextSegment(of: .front) == 4)
    }

    @Test("A camera keeps the number that it got first")
    func cameras() throws {
        let index = try RecordingIndex.sample()
        #expect(try index.camera(named: "yard") == .yard)
        let new = try index.camera(named: "gate")
        #expect(new.rawValue == 3)
        #expect(
            try index.camera(named: "gate") == new && index.cameras() == ["front": .front, "yard": .yard, "gate": new])
    }

    // MARK: Lists

    @Test("Ranges end at gaps and at runs, and are cut at the bounds", arguments: [ListOrder.ascending, .descending])
    func ranges(order: ListOrder) throws {
        let index = try RecordingIndex.sample()
        try index.addRun(.front, first: 1, count: 3, start: start)
        // The same run, after a gap of ten seconds.
        try index.add(id(4), run: id(1), start: start + 3 * minute + 10_000_000)
        // Another run, without a gap.
        try index.addRun(.front, first: 5, count: 2, start: start + 4 * minute + 10_000_000)
        try index.addRun(.yard, first: 1, count: 9, start: start)

        let times = start + minute / 2..<start + 5 * minute
        let query = RecordingQuery(camera: .front, times: times, order: order, limit: 10)
        var expected = [
            (start + minute / 2..<start + 3 * minute, id(1), id(3)),
            (start + 3 * minute + 10_000_000..<start + 4 * minute + 10_000_000, id(4), id(4)),
            (start + 4 * minute + 10_000_000..<start + 5 * minute, id(5), id(5)),
        ]
        if order == .descending { expected.reverse() }
        let page = try index.ranges(query)
        #expect(page.entries.map(\.times) == expected.map(\.0))
        #expect(page.entries.map(\.firstSegment) == expected.map(\.1))
        #expect(page.entries.map(\.lastSegment) == expected.map(\.2))
        #expect(page.next == nil)
    }

    @Test("Pages have every entry once, also with equal times", arguments: [ListOrder.ascending, .descending])
    func pages(order: ListOrder) throws {
        let index = try RecordingIndex.sample()
        try index.addRun(.front, first: 1, count: 5, start: start)
        // After the clock was set back: the same times again, in a second run.
        try index.addRun(.front, first: 6, count: 5, start: start)
        for limit in [1, 2, 3, 10, 20] {
            var query = RecordingQuery(
                camera: .front, times: start..<start + 5 * minute, order: order, limit: limit)
            var found: [SegmentID] = []
            repeat {
                let page = try index.segments(query)
                #expect(page.entries.count <= limit)
                found += page.entries.map(\.id)
                query.cursor = page.next
            } while query.cursor != nil
            #expect(Set(found).count == 10 && found.count == 10, "pages of \(limit)")
            let expected: [UInt32] = [1, 6, 2, 7, 3, 8, 4, 9, 5, 10]
            #expect(found.map(\.number) == (order == .ascending ? expected : expected.reversed()))
        }
        #expect(try index.segmentCount(of: .front, in: start + 1..<start + minute) == 2)
    }

    @Test("A cursor of another list is refused")
    func wrongCursor() throws {
        let index = try RecordingIndex.sample()
        for cursor in ["", "a_1", "d_1_2", "a_x_2", "a_1_2_3"] {
            #expect(throws: IoTError.self) {
                try index.segments(RecordingQuery(camera: .front, times: 0..<1, limit: 1, cursor: cursor))
            }
        }
    }

    @Test("The fragment at a time, and the next one in a gap")
    func positions() throws {
        let index = try RecordingIndex.sample()
        try index.addRun(.front, first: 1, count: 2, start: start)
        try index.add(id(3), run: id(1), start: start + 3 * minute)
        let inside = try #require(try index.position(of: .front, at: start + minute + 2_500_000))
        #expect(inside.segment.id == id(2) && inside.fragment == 2 && inside.offset == 2_000)
        let gap = try #require(try index.position(of: .front, at: start + 2 * minute + 1))
        #expect(gap.segment.id == id(3) && gap.fragment == 0)
        #expect(try index.position(of: .front, at: 0)?.segment.id == id(1))
        #expect(try index.position(of: .front, at: start + 4 * minute) == nil)
        #expect(try index.position(of: .yard, at: start) == nil)
    }

    // MARK: Days

    @Test("Days of zones, also a day that has only the end of a segment")
    func days() throws {
        let index = try RecordingIndex.sample()
        // 2025-11-24 23:59:30 in Berlin.
        let evening: Int64 = 1_764_025_170_000_000
        try index.add(id(1), start: evening)
        try index.add(id(2), start: evening + 3 * 86_400_000_000)
        let all = Int64.min..<Int64.max
        let berlin = try ZoneRules(name: "Europe/Berlin")
        #expect(
            try index.days(of: .front, in: all, zone: berlin).map(\.date.description)
                == ["2025-11-24", "2025-11-25", "2025-11-27", "2025-11-28"])
        for (hours, dates) in [
            (14, ["2025-11-25", "2025-11-28"]), (-12, ["2025-11-24", "2025-11-27"]),
            (8, ["2025-11-25", "2025-11-28"]), (0, ["2025-11-24", "2025-11-27"]),
        ] as [(Int64, [String])] {
            let zone = try #require(FixedOffset(seconds: hours * 3_600))
            #expect(try index.days(of: .front, in: all, zone: zone).map(\.date.description) == dates, "\(hours) h")
        }
        #expect(
            try index.days(of: .front, in: evening + 31_000_000..<evening + minute, zone: berlin).map(
                \.date.description)
                == ["2025-11-25"])
    }

    @Test("A day is found on both days on which daylight saving time changes")
    func changingDays() throws {
        let index = try RecordingIndex.sample()
        // 2026-10-25 in Berlin, from midnight for 25 hours, a segment at the beginning of each hour.
        let midnight: Int64 = 1_792_879_200_000_000
        for hour in 0..<25 as Range<Int64> {
            try index.add(id(UInt32(hour) + 1), start: midnight + hour * 3_600_000_000)
        }
        try index.add(id(26), start: midnight + 25 * 3_600_000_000)
        let days = try index.days(of: .front, in: .min ..< .max, zone: try ZoneRules(name: "Europe/Berlin"))
        #expect(days.map(\.date.description) == ["2026-10-25", "2026-10-26"])
        let day = try #require(days.first)
        let times = day.seconds.lowerBound * 1_000_000..<day.seconds.upperBound * 1_000_000
        #expect(try index.segmentCount(of: .front, in: times) == 25)
    }

    // MARK: Clocks

    @Test("Runs of this boot move to the right time when the clock is synchronised, and no others")
    func reanchored() throws {
        let index = try RecordingIndex.sample()
        let early: Int64 = 5_000_000_000
        for (number, boot, quality) in [
            (1, "b", ClockQuality.unsynchronised), (3, "b", .synchronised), (5, "a", .unsynchronised),
        ] as [(UInt32, String, ClockQuality)] {
            let facts = RunFacts.sample(at: early, quality: quality, boot: boot)
            try index.commit([.beginRun(RunRecord(id: id(number), facts: facts))])
            for each in [number, number + 1] {
                let begin = early + Int64(each - number) * minute
                try index.add(id(each), run: id(number), start: begin, beginsRun: false)
            }
        }
        // The machine came up at 5,000 s; 100 s later it learns that it is `start`.
        let correction = ClockCorrection(
            boot: "b", monotonic: early - 1_000_000_000 + 100_000_000, wall: start)
        #expect(try index.apply(correction) == [id(1)])
        #expect(try index.apply(correction) == [])
        let moved = start - 100_000_000
        #expect(try index.segment(id(1))?.record.start == moved)
        #expect(try index.segment(id(2))?.record.start == moved + minute)
        #expect(try index.segment(id(2))?.list.wallStart == moved + minute)
        for number in 3...6 as ClosedRange<UInt32> {
            #expect(try index.segment(id(number))?.record.start == early + (number % 2 == 0 ? minute : 0))
        }
        #expect(try index.run(id(1))?.facts.wallAnchor == moved)
        #expect(try index.run(id(1))?.facts.quality == .reanchored)
        #expect(try index.position(of: .front, at: moved + 500)?.segment.id == id(1))
    }
}
