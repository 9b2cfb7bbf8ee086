import GRDB
import IoTCore
import Testing

@testable import RecordingStore

@Suite("What happened at a camera")
struct TimelineTests {
    private let start: Int64 = 1_764_000_000_000_000
    private let minute: Int64 = 60_000_000

    private func state(_ minutes: Int64, _ name: String, _ value: JSONValue) -> TimelineEntry {
        TimelineEntry(time: start + minutes * minute, kind: .state, name: name, value: value)
    }

    private func moment(_ minutes: Int64, _ name: String, _ value: JSONValue = [:]) -> TimelineEntry {
        TimelineEntry(time: start + minutes * minute, kind: .moment, name: name, value: value)
    }

    private func all(_ index: RecordingIndex, _ camera: CameraNumber = .front) throws -> [TimelineEntry] {
        try index.timeline(of: camera, after: TimelinePlace(after: .min), before: .max, limit: 1_000).map(\.entry)
    }

    private func id(_ number: UInt32) -> SegmentID { SegmentID(camera: .front, number: number) }

    @Test("The values at a time, and what follows by page; what is known already is not stored again")
    func reading() throws {
        let index = try RecordingIndex.sample()
        let entries = [
            state(0, "on", 1), state(0, "source", "ready"), moment(2, "rang"), state(3, "on", 0), moment(3, "rang"),
        ]
        try index.commit([.happened(.front, entries), .happened(.yard, [state(1, "on", 7)])])
        #expect(try all(index) == entries)
        // A start reports all values again; a commit that failed may be stored.
        try index.commit([.happened(.front, [state(4, "on", 0), moment(3, "rang"), state(4, "source", "ready")])])
        #expect(try all(index) == entries)

        #expect(try index.state(of: .front, at: start - 1).isEmpty)
        #expect(try index.state(of: .front, at: start + 2 * minute) == [entries[0], entries[1]])
        #expect(try index.state(of: .front, at: start + 3 * minute) == [entries[3], entries[1]])

        let first = try index.timeline(
            of: .front, after: TimelinePlace(after: start), before: start + 4 * minute, limit: 2)
        #expect(first.map(\.entry) == [entries[2], entries[3]])
        let place = try #require(first.last?.place)
        let rest = try index.timeline(of: .front, after: place, before: start + 4 * minute, limit: 2)
        #expect(rest.map(\.entry) == [entries[4]], "of the same time")
        #expect(try index.timeline(of: .front, after: place, before: start + 3 * minute, limit: 2).isEmpty)
    }

    @Test("A value that is too long is stored as null, and a camera has a bounded number of names")
    func bounds() throws {
        let index = try RecordingIndex.sample()
        try index.commit([.happened(.front, [state(0, "long", .string(String(repeating: "x", count: 1_100)))])])
        #expect(try all(index).map(\.value) == [.null])
        try index.commit([.happened(.front, (0..<300).map { state(1, "name \($0)", 1) })])
        #expect(try all(index).count == 256)
    }

    @Test("What happened in the times of removed segments goes with them; the values that hold afterwards stay")
    func removal() throws {
        let index = try RecordingIndex.sample()
        try index.addRun(.front, first: 1, count: 4, start: start)
        let entries = [
            state(-5, "on", 1), moment(-5, "rang"), state(0, "on", 0), moment(0, "rang"), state(1, "on", 1),
            moment(1, "rang"), state(2, "on", 0), moment(2, "rang"), moment(3, "rang"),
        ]
        try index.commit([.happened(.front, entries), .happened(.yard, [moment(0, "rang")])])
        // In the middle.
        try index.commit([.discard([id(2)])])
        let before = [state(-5, "on", 1), state(0, "on", 0), moment(0, "rang")]
        #expect(try all(index) == before + [state(1, "on", 1)] + entries[6...])
        // The oldest one, with everything before what is left.
        try index.commit([.discard([id(1)])])
        #expect(try all(index) == [state(1, "on", 1)] + entries[6...])
        // All of them.
        try index.commit([.discard([id(3), id(4)])])
        #expect(try all(index) == [state(2, "on", 0)])
        #expect(try index.state(of: .front, at: .max) == [state(2, "on", 0)])
        #expect(try all(index, .yard).count == 1, "another camera's")
    }

    @Test("A new owner gets the present values only, as of the change")
    func newOwner() throws {
        let index = try RecordingIndex.sample()
        try index.commit([.own(.front, 1)])
        try index.commit([.happened(.front, [state(0, "on", 1), moment(0, "rang"), state(1, "on", 0)])])
        try index.commit([.own(.front, 1)])
        #expect(try all(index).count == 3)
        try index.commit([.own(.front, 2)])
        let left = try all(index)
        #expect(left.map(\.name) == ["on"] && left.map(\.value) == [0])
        #expect(try #require(left.first).time > start + minute, "not when the one before has changed it")
        #expect(try index.state(of: .front, at: start + 2 * minute).isEmpty)
    }

    @Test("A run that is moved on the wall clock takes along what happened meanwhile")
    func correctedClock() throws {
        let index = try RecordingIndex.sample()
        try index.addRun(.front, first: 1, count: 2, start: start)
        try index.addRun(.front, first: 3, count: 1, start: start + 10 * minute)
        try index.commit([.happened(.front, [moment(1, "first"), moment(10, "second")])])
        try index.commit([.shift(runs: [id(1)], by: 3 * minute, .reanchored)])
        #expect(try all(index) == [moment(4, "first"), moment(10, "second")])
    }

    @Test("A camera's timeline has a bounded number of entries: the oldest go, but for the values that hold")
    func size() throws {
        let index = try RecordingIndex.sample()
        try index.commit([.happened(.front, [state(0, "on", 1)])])
        try index.opened().write { database in
            let writer = IndexWriter(database: database, mostEntries: 500)
            try writer.add((1...2_000).map { moment(Int64($0), "rang") }, of: .front)
        }
        let left = try all(index)
        #expect((500...800).contains(left.count), "\(left.count)")
        #expect(left.first == state(0, "on", 1) && left.last == moment(2_000, "rang"))
    }

    @Test("A writer stores what happened with its sync round, and again if the index failed")
    func writing() throws {
        var rig = try WriterRig()
        var queue = TimelineQueue()
        queue.append(moment(0, "rang"))
        rig.writer.timelines[.front] = queue
        for _ in 0..<6 { rig.second([.front]) }
        #expect(try all(rig.index) == [moment(0, "rang")])
        #expect(rig.writer.timelines.isEmpty)
    }

    @Test("What waits for a sync round is bounded: events are dropped before the newest values")
    func waiting() {
        var queue = TimelineQueue()
        queue.append(state(0, "on", 1))
        for number in 1..<300 { queue.append(moment(Int64(number), "rang")) }
        #expect(queue.entries.count == TimelineQueue.limit && queue.entries[0].name == "on")
        #expect(queue.entries.last == moment(299, "rang"), "the newest are kept")
        queue.append(state(300, "on", 0))
        #expect(queue.entries.filter { $0.kind == .state } == [state(300, "on", 0)])
        queue.dropMoments()
        #expect(queue.entries == [state(300, "on", 0)])
    }
}
