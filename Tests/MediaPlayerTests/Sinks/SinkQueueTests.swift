import IoTCore
import Synchronization
import Testing

@testable import MediaPlayer

/// Tests a sink's queue; the test is its thread.
@Suite struct SinkQueueTests {
    private final class Item: Sendable {}

    private struct WeakItem {
        weak var item: Item?
    }

    private final class Log: Sendable {
        let entries = Mutex<[String]>([])
        let losses = Atomic(0)

        func add(_ entry: String) { entries.withLock { $0.append(entry) } }

        var all: [String] { entries.withLock { $0 } }
    }

    private let limits = SinkLimits(duration: 60_000_000, bytes: 1_000)

    private func queue(
        _ target: SinkQueue<Item>.Target, _ worker: WaitingQueue, _ log: Log, atMost count: Int = .max
    ) -> SinkQueue<Item> {
        var parts = PlayerParts()
        parts.jobQueue = { _, _ in worker }
        return SinkQueue(name: "test", target, parts: parts, onLoss: { log.losses.add(1, ordering: .relaxed) }) {
            log.add("made")
            var remaining = count
            return SinkQueue.Work(
                take: { _ in
                    log.add("taken")
                    remaining -= 1
                    return remaining > 0
                }, end: { log.add("end \($0?.code.name ?? "-")") })
        }
    }

    @Test("A busy sink has limited waiting items, reports its loss once, and gets the waiting items, then the end")
    func busy() {
        let (worker, log) = (WaitingQueue(), Log())
        let queue = queue(.limits(limits), worker, log)
        for time in 0..<50 as Range<Int64> { #expect(queue.give(Item(), at: time, bytes: 100)) }
        #expect(queue.room.waiting.bytes == 1_000 && worker.count == 10)
        #expect(log.losses.load(ordering: .relaxed) == 1 && log.all.isEmpty)
        queue.end(IoTError(.hungUp))
        #expect(!queue.give(Item(), at: 50, bytes: 100), "nothing is taken after the end")
        worker.run()
        #expect(log.all == ["made"] + Array(repeating: "taken", count: 10) + ["end hungUp"])
        #expect(queue.room.counts.framesDropped == 40 && queue.room.waiting.frames == 0)
        #expect(queue.room.isClosed)
    }

    @Test("A sink that has enough gets no more items and no end")
    func enough() {
        let (worker, log) = (WaitingQueue(), Log())
        let queue = queue(.limits(limits), worker, log, atMost: 2)
        for time in 0..<5 as Range<Int64> { #expect(queue.give(Item(), at: time, bytes: 100)) }
        worker.run()
        #expect(!queue.give(Item(), at: 5, bytes: 100))
        queue.end(nil)
        worker.run()
        #expect(log.all == ["made", "taken", "taken"])
        #expect(queue.room.waiting.frames == 0)
    }

    /// Refuses jobs, after it has let something else happen.
    private final class RefusingQueue: JobQueue {
        let meanwhile = Mutex<(@Sendable () -> Void)?>(nil)

        func submit(patience: Int, beyondLimit: Bool, _ job: @escaping @Sendable () -> Void) -> Bool {
            meanwhile.withLock { $0.take() }?()
            return false
        }

        func stop() {}
    }

    @Test(
        "A frame given while the sink ends is not a loss; a frame that the full queue refuses is",
        arguments: [true, false])
    func ending(isEnding: Bool) {
        let (worker, log) = (RefusingQueue(), Log())
        var parts = PlayerParts()
        parts.jobQueue = { _, _ in worker }
        let queue = SinkQueue<Item>(
            name: "test", .limits(limits), parts: parts, onLoss: { log.losses.add(1, ordering: .relaxed) }
        ) { SinkQueue.Work(take: { _ in true }, end: { _ in }) }
        if isEnding { worker.meanwhile.withLock { $0 = { queue.end(nil) } } }
        #expect(queue.give(Item(), at: 0, bytes: 100) == !isEnding)
        #expect(queue.room.counts.framesDropped == (isEnding ? 0 : 1))
        #expect(log.losses.load(ordering: .relaxed) == (isEnding ? 0 : 1))
        #expect(queue.room.waiting.frames == 0)
    }

    @Test("When the reader leaves, waiting items are released, and no more are taken")
    func leaving() {
        let (worker, log) = (WaitingQueue(), Log())
        let stream = ChunkStream(limits)
        let queue = queue(.stream(stream), worker, log)
        var items: [WeakItem] = []
        for time in 0..<10 as Range<Int64> {
            let item = Item()
            items.append(WeakItem(item: item))
            #expect(queue.give(item, at: time, bytes: 100))
        }
        #expect(items.allSatisfy { $0.item != nil })
        do { _ = stream.makeAsyncIterator() }
        #expect(!queue.give(Item(), at: 10, bytes: 100))
        worker.run()
        #expect(items.allSatisfy { $0.item == nil })
        #expect(queue.room.waiting.frames == 0)
        #expect(log.all.isEmpty)
    }
}
