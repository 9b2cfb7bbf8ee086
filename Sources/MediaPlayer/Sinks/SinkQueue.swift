import IoTCore
import Synchronization

/// The path to one sink: a bounded queue, and a thread that works only for this sink. A slow sink loses its own frames
/// and delays neither the decoder nor another sink.
///
/// `@unchecked Sendable`: `work` and `isOver` are used only on `worker`; the rest synchronizes itself.
final class SinkQueue<Item: Sendable>: @unchecked Sendable {
    /// The sink's callbacks, called on the queue's thread.
    struct Work {
        /// Returns false to end the sink: it has enough, or its reader has left.
        let take: (Item) -> Bool
        /// No more items will come.
        let end: (IoTError?) -> Void
    }

    /// What limits a queue.
    enum Target {
        /// Limits what waits until the sink has taken it.
        case limits(SinkLimits)
        /// The sink writes to this stream: a frame keeps its room until the reader has taken the chunk made from it.
        case stream(ChunkStream)
    }

    /// The maximum number of waiting jobs, including those that take no room.
    private static var longestQueue: Int { 2048 }

    let room: SinkRoom
    private let worker: any JobQueue
    private let stream: ChunkStream?
    private let onLoss: @Sendable () -> Void
    private let make: @Sendable () -> Work
    /// What each item takes of the room at least.
    private let leastBytes: Int
    private var work: Work?
    private var isOver = false
    /// True when no more items are taken.
    private let isEnding = Atomic(false)

    /// - Parameters:
    ///   - leastBytes: what each item takes of the room at least, because the sink makes it larger.
    ///   - onLoss: called by the caller of `give` when a frame is dropped and the one before it was not.
    ///   - make: called on the queue's thread before the first frame or the end.
    init(
        name: String, _ target: Target, parts: PlayerParts, leastBytes: Int = 0,
        onLoss: @escaping @Sendable () -> Void, make: @escaping @Sendable () -> Work
    ) {
        switch target {
        case .limits(let limits):
            room = SinkRoom(limits)
            stream = nil
        case .stream(let stream):
            room = stream.room
            self.stream = stream
        }
        self.leastBytes = leastBytes
        self.onLoss = onLoss
        self.make = make
        worker = parts.jobQueue(name, Self.longestQueue)
    }

    /// Returns false when the sink has ended. The frame may have been dropped.
    func give(_ item: Item, at time: Int64, bytes: Int, isStart: Bool = true) -> Bool {
        guard isWanted else { return false }
        switch room.admit(at: time, bytes: max(bytes, leastBytes), isStart: isStart) {
        case .admitted(let load):
            guard !submit(item, load) else { break }
            guard !isEnding.load(ordering: .relaxed) else {
                // The sink ended meanwhile: frames that it does not want do not count as losses.
                room.release(load)
                return false
            }
            if case .dropped(isFirst: true) = room.refuse(load) { onLoss() }
        case .dropped(let isFirst):
            if isFirst { onLoss() }
        case .surplus: break
        }
        return isWanted
    }

    /// Gives an item that takes no room. Returns false when the sink has ended.
    func give(_ item: Item) -> Bool {
        guard isWanted else { return false }
        _ = submit(item, SinkLoad())
        return isWanted
    }

    /// Ends the sink after the waiting items.
    ///
    /// - Parameter onEnded: called when it has ended, on its thread, or at once if it had been ended before.
    func end(_ reason: IoTError?, onEnded: @escaping @Sendable () -> Void = {}) {
        let isFirst = stop(
            { queue in
                let work = queue.work ?? queue.make()
                queue.close()
                work.end(reason)
            }, onEnded: onEnded)
        if !isFirst { onEnded() }
    }

    /// False as soon as the sink has ended; its reader may have left.
    var isWanted: Bool {
        guard !isEnding.load(ordering: .relaxed) else { return false }
        guard room.isClosed else { return true }
        stop { $0.close() }
        return false
    }

    private func submit(_ item: Item, _ load: SinkLoad) -> Bool {
        worker.submit(patience: 0, beyondLimit: false) { [self] in run(item, load) }
    }

    /// Returns false if the sink had been ended before.
    @discardableResult
    private func stop(
        _ last: @escaping @Sendable (SinkQueue) -> Void, onEnded: @escaping @Sendable () -> Void = {}
    ) -> Bool {
        guard !isEnding.exchange(true, ordering: .relaxed) else { return false }
        worker.submit(patience: 0, beyondLimit: true) { [self] in
            if !isOver { last(self) }
            onEnded()
        }
        worker.stop()
        return true
    }

    // MARK: On the worker

    private func run(_ item: Item, _ load: SinkLoad) {
        guard !isOver, !room.isClosed else { return room.release(load) }
        let work = work ?? make()
        self.work = work
        stream?.carry(load)
        let goesOn = work.take(item)
        if stream == nil { room.release(load) }
        if !goesOn { close() }
    }

    private func close() {
        isEnding.store(true, ordering: .relaxed)
        isOver = true
        room.close()
        work = nil
        worker.stop()
    }
}
