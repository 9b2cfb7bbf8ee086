import Dispatch
import IoTCore
import Synchronization
import Testing

@testable import RecordingStore

@Suite("Recordings of an earlier owner")
struct OwnerTests {
    private let start: Int64 = 1_764_000_000_000_000
    private let minute: Int64 = 60_000_000
    private let all: Range<Int64> = 0..<Int64.max

    private func id(_ number: UInt32, _ camera: CameraNumber = .front) -> SegmentID {
        SegmentID(camera: camera, number: number)
    }

    private func numbers(_ index: RecordingIndex, _ camera: CameraNumber = .front) throws -> [UInt32] {
        try index.segments(RecordingQuery(camera: camera, times: all, limit: 100)).entries.map(\.id.number)
    }

    @Test("The first owner that gets known sees what is there; a later one only segments that begin after that")
    func newOwner() throws {
        let index = try RecordingIndex.sample()
        try index.addRun(.front, first: 1, count: 3, start: start)
        try index.addRun(.yard, first: 1, count: 2, start: start)
        try index.add(id(4), run: id(1), start: start + 3 * minute, state: .open, beginsRun: false)
        try index.commit([.hold(HoldRecord(id: 1, camera: .front, times: start..<start + minute))])
        try index.commit([.own(.front, 7)])
        #expect(try numbers(index) == [1, 2, 3, 4] && index.holds(of: .front).count == 1)
        try index.commit([.own(.front, 7)])
        #expect(try numbers(index) == [1, 2, 3, 4], "told again")

        try index.commit([.own(.front, 8)])
        #expect(try index.ownership(of: .front) == 8)
        #expect(try numbers(index).isEmpty, "also not the growing one")
        #expect(try index.ranges(RecordingQuery(camera: .front, times: all, limit: 10)).entries.isEmpty)
        #expect(try index.days(of: .front, in: all, zone: FixedOffset(seconds: 0)!).isEmpty)
        #expect(try index.segmentCount(of: .front, in: all) == 0)
        #expect(try index.position(of: .front, at: start + minute) == nil)
        #expect(try index.position(of: .front, at: start - minute) == nil, "nor what comes after a time")
        #expect(try index.overlapping(.front, all, after: nil, limit: 10).isEmpty, "it cannot be removed by request")
        #expect(try index.holds(of: .front).isEmpty)
        #expect(try !index.isVisible(id(4)) && index.isVisible(id(5)))
        #expect(try numbers(index, .yard) == [1, 2] && index.isVisible(id(1, .yard)), "another camera's")

        try index.add(id(5), start: start + 4 * minute)
        #expect(try numbers(index) == [5])
        #expect(try index.position(of: .front, at: start)?.segment.id == id(5))
        // Space is still made where the earlier recordings are.
        let removable = try index.removable(on: 1, camera: .front, before: .max, leases: [], limit: 10)
        #expect(removable.map(\.id.number) == [1, 2, 3, 5])
    }

    @Test("A clock that was wrong when the owner changed makes no difference")
    func wrongClock() throws {
        let index = try RecordingIndex.sample()
        try index.commit([.own(.front, 1)])
        // The box has started in 1970.
        try index.add(id(1), start: 60_000_000)
        try index.commit([.own(.front, 2)])
        try index.add(id(2), start: 120_000_000)
        // Then its clock is set, and both are moved.
        try index.commit([.shift(runs: [id(1), id(2)], by: start, .synchronised)])
        #expect(try numbers(index) == [2])
    }

    /// A queue with an opening and fragments of it.
    private func queue(fragments count: Int) -> CameraQueue {
        var queue = CameraQueue(limit: 100_000)
        queue.begin(opening)
        for number in 0..<count { _ = queue.append(fragment(number)) }
        return queue
    }

    private var opening: SegmentOpening {
        SegmentOpening(header: PlainSegment.header, sampleEntry: [1], run: .sample(at: start), reason: .continuous)
    }

    private func fragment(_ number: Int) -> StoredFragment {
        PlainSegment.fragment(number, wall: start, media: 0, size: 900)
    }

    @Test(
        "What waits for the disk is dropped, and so is what follows until the next opening; a file that was begun continues",
        arguments: [(fragments: 3, written: 0), (3, 1), (0, 0), (1, 1)])
    func waiting(fragments: Int, written: Int) throws {
        var queue = queue(fragments: fragments)
        for _ in 0..<written {
            _ = queue.next()
            queue.note(hasFile: true)
        }
        #expect(queue.discard()?.count ?? 0 == fragments - written)
        #expect(queue.isEmpty && queue.bytes == 0 && queue.discard() == nil)
        _ = queue.append(fragment(4))
        let continues = written > 0 && written == fragments
        #expect(queue.isEmpty == !continues, "otherwise it would begin a segment of the new owner")
        queue.begin(opening)
        _ = queue.append(fragment(5))
        var isFirst: [Bool] = []
        while let step = queue.next() {
            if case .fragment(_, _, _, let first, afterGap: false) = step { isFirst.append(first) }
        }
        #expect(isFirst == (continues ? [false, true] : [true]))
    }

    @Test(
        "What could not be written when the owner changed is written only if it continues a file",
        arguments: [(written: 0, isOpen: false), (1, true), (1, false)])
    func putBack(written: Int, isOpen: Bool) throws {
        var queue = queue(fragments: written + 1)
        for _ in 0..<written {
            _ = queue.next()
            queue.note(hasFile: true)
        }
        guard case .fragment(let fragment, let number, _, let isFirst, let afterGap)? = queue.next() else {
            Issue.record("nothing waits")
            return
        }
        _ = queue.discard()
        _ = queue.append(self.fragment(3))
        // A full disk keeps its open files; one that is lost forgets them.
        queue.note(hasFile: isOpen)
        let isKept = queue.putBack(fragment, of: number, isFirst: isFirst, afterGap: afterGap)
        #expect(isKept == isOpen && queue.isEmpty == !isOpen)
        _ = queue.append(self.fragment(4))
        #expect(queue.bytes == (isOpen ? 3 * fragment.facts.byteCount : 0))
    }

    @Test("A file that is begun while the owner changes is removed; the next opening is the new owner's")
    func begunMeanwhile() throws {
        let index = try RecordingIndex(path: nil)
        try index.commit([.putCamera(.front, name: "front"), .own(.front, 1)])
        let files = LoggedDisk()
        let started = Mutex<RecordingDisk?>(nil)
        let isChanged = DispatchSemaphore(value: 0)
        let logged = LoggedIndex(index: index, disk: files) { (changes) throws(IoTError) in
            guard case .openSegment? = changes.last, try index.ownership(of: .front) == 1 else { return }
            started.withLock { $0 }?.discardWaiting(of: .front)
            try index.commit([.own(.front, 2)])
            isChanged.signal()
        }
        let disk = RecordingDisk(
            files: files, index: logged, scanner: PlainScanner(), leases: SegmentLeases(),
            configuration: DiskConfiguration(path: "/disk")
        ) { _ in }
        started.withLock { $0 = disk }
        disk.begin(opening, of: .front)
        disk.append(fragment(0), of: .front)
        #expect(isChanged.wait(timeout: .now() + 60) == .success)
        disk.append(fragment(1), of: .front)
        disk.begin(opening, of: .front)
        disk.append(fragment(2), of: .front)
        disk.stop()
        #expect(try numbers(index) == [2] && files.paths == [id(2).path])
    }
}
