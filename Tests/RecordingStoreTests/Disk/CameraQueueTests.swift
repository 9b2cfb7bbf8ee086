import NIOCore
import Testing

@testable import RecordingStore

@Suite("What waits for a disk")
struct CameraQueueTests {
    private let opening = SegmentOpening(header: PlainSegment.header, sampleEntry: [], run: .sample(at: 0))

    private func fragment(_ number: Int, isKey: Bool = true) -> StoredFragment {
        PlainSegment.fragment(number, wall: Int64(number) * 1_000_000, media: 0, size: 948, isKey: isKey)
    }

    private func names(_ queue: inout CameraQueue) -> [String] {
        var names: [String] = []
        while let step = queue.next() {
            switch step {
            case .fragment(let fragment, let number, _, let isFirst, let afterGap):
                names.append(
                    "\(number): \(fragment.facts.wallStart / 1_000_000)\(isFirst ? " first" : "")\(afterGap ? " gap" : "")"
                )
            case .end(let number, let ending): names.append("\(number) end\(ending == nil ? "" : " whole")")
            }
        }
        return names
    }

    @Test("Steps come in order")
    func order() {
        var queue = CameraQueue(limit: 10_000)
        #expect(queue.isEmpty)
        queue.begin(opening)
        for number in 0..<2 {
            let dropped = queue.append(fragment(number))
            #expect(dropped == nil)
        }
        queue.end(PlainSegment.ending)
        queue.begin(opening)
        let dropped = queue.append(fragment(2))
        #expect(dropped == nil)
        #expect(queue.bytes == 3_000)
        let steps = names(&queue)
        #expect(steps == ["1: 0 first", "1: 1", "1 end whole", "2: 2 first"])
        #expect(queue.bytes == 0)
        #expect(queue.isEmpty)
    }

    @Test("A full queue drops the oldest group of pictures, and a segment with a gap has no ending")
    func full() {
        var queue = CameraQueue(limit: 4_000)
        queue.begin(opening)
        for number in 0..<4 {
            let dropped = queue.append(fragment(number, isKey: number % 2 == 0))
            #expect(dropped == nil)
        }
        let dropped = queue.append(fragment(4))
        #expect(dropped == DroppedFragments(count: 2, bytes: 2_000, from: 0, to: 2_000_000))
        queue.end(PlainSegment.ending)
        let steps = names(&queue)
        #expect(steps == ["1: 2 gap", "1: 3", "1: 4", "1 end whole"])
    }

    @Test("A queue that nobody empties stays small, whatever the number of segments")
    func bounded() {
        var queue = CameraQueue(limit: 4_000)
        var dropped = 0
        for number in 0..<1_000 {
            if number % 5 == 0 { queue.begin(opening) }
            dropped += queue.append(fragment(number))?.count ?? 0
            if number % 5 == 4 { queue.end(PlainSegment.ending) }
            #expect(queue.bytes <= 4_000)
        }
        #expect(dropped == 996)
        let steps = names(&queue)
        #expect(steps == ["200: 996 gap", "200: 997", "200: 998", "200: 999", "200 end whole"])
    }

    @Test("A fragment that was put back comes first, unless those after it were dropped")
    func putBack() throws {
        var queue = CameraQueue(limit: 4_000)
        queue.begin(opening)
        for number in 0..<4 { _ = queue.append(fragment(number)) }
        guard case .fragment(let first, 1, _, true, false) = queue.next() else { throw TestFailure() }
        let isBack = queue.putBack(first, of: 1, isFirst: true, afterGap: false)
        #expect(isBack)
        guard case .fragment(let again, 1, _, true, false) = queue.next() else { throw TestFailure() }
        #expect(again.facts.wallStart == 0)
        _ = queue.append(fragment(4))
        let dropped = queue.append(fragment(5))
        #expect(dropped?.count == 1)
        let isBackAgain = queue.putBack(again, of: 1, isFirst: true, afterGap: false)
        #expect(!isBackAgain)
        let steps = names(&queue)
        #expect(steps.first == "1: 2 gap")
    }
}

struct TestFailure: Error {}
