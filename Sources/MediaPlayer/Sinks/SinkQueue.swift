import IoTCore
import Synchronization

/// The way to one sink: a bounded queue, and a thread that works for this sink alone. A sink that is slow, or works
/// long, loses its own frames and holds back neither the decoder nor another sink.
///
/// `@unchecked Sendable`: `work` is used on `worker` alone; the rest guards itself.
final class SinkQueue<Item: Sendable>: @unchecked Sendable {
    /// What becomes of what is given, on the queue's thread.
    struct Work {
        /// False ends the sink: it has what it wanted, or nobody reads it any more.
        let take: (Item) -> Bool
        /// Nothing more will come.
        let end: (IoTError?) -> Void
    }

    /// What bounds a queue.
    enum Target {
        /// What may wait until the sink has taken it.
        case limits(SinkLimits)
        /// The sink writes this stream: a frame keeps its room there until the reader has taken what came of it.
        case stream(ChunkStream)
    }

    /// Jobs that may wait, those included that take no room.
    private static var longestQueue: Int { 2048 }

    let room: SinkRoom
    private let worker: any JobQueue
    private let stream: ChunkStream?
    private let onLoss: @Sendable () -> Void
    private let make: @Sendable () -> Work
    private var work: Work?
    private var isOver = false
    /// No more is taken.
    private let isEnding = Atomic(false)

    /// - Parameters:
    ///   - onLoss: called by whoever gives a frame that is dropped, when the one before it was not.
    ///   - make: called on the queue's thread before the first frame, or the end.
    init(
        name: String, _ target: Target, parts: PlayerParts, onLoss: @escaping @Sendable () -> Void,
        make: @escaping @Sendable () -> Work
    ) {
        switch target {
        case .limits(let limits):
            room = SinkRoom(limits)
            stream = nil
        case .stream(let stream):
            room = stream.room
            self.stream = stream
        }
        self.onLoss = onLoss
        self.make = make
        worker = parts.jobQueue(name, Self.longestQueue)
    }

    /// False when the sink is over. The frame may have been dropped.
    func give(_ item: Item, at time: Int64, bytes: Int, isStart: Bool = true) -> Bool {
        guard isWanted else { return false }
        switch room.admit(at: time, bytes: bytes, isStart: isStart) {
        case .admitted(let load):
            guard !submit(item, load) else { break }
            guard !isEnding.load(ordering: .relaxed) else {
                // It ended meanwhile: what it does not want is no loss.
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

    /// Gives what takes no room. False when the sink is over.
    func give(_ item: Item) -> Bool {
        guard isWanted else { return false }
        _ = submit(item, SinkLoad())
        return isWanted
    }

    /// Ends the sink after what waits.
    func end(_ reason: IoTError?) {
        stop { queue in
            let work = queue.work ?? queue.make()
            queue.close()
            work.end(reason)
        }
    }

    /// False as soon as the sink is over: the reader may have left.
    var isWanted: Bool {
        guard !isEnding.load(ordering: .relaxed) else { return false }
        guard room.isClosed else { return true }
        stop { $0.close() }
        return false
    }

    private func submit(_ item: Item, _ load: SinkLoad) -> Bool {
        worker.submit(patience: 0, beyondLimit: false) { [self] in run(item, load) }
    }

    private func stop(_ last: @escaping @Sendable (SinkQueue) -> Void) {
        guard !isEnding.exchange(true, ordering: .relaxed) else { return }
        worker.submit(patience: 0, beyondLimit: true) { [self] in
            if !isOver { last(self) }
        }
        worker.stop()
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
