import Foundation

/// Samples on their way from one thread to another. The number of waiting samples is bounded.
///
/// `@unchecked Sendable`: `condition` guards all mutable state.
final class SampleQueue: @unchecked Sendable {
    private let condition = NSCondition()
    private let limit: Int
    private var samples: [Int16] = []
    private var isClosed = false
    private var droppedCount = 0

    /// - Parameter limit: how many samples may wait.
    init(limit: Int) {
        self.limit = limit
    }

    /// Waits until the samples have room.
    ///
    /// - Returns: false if the queue was closed.
    func write(_ new: [Int16]) -> Bool {
        condition.withLock {
            // An empty queue takes everything, so that no block is too long.
            while !isClosed, !samples.isEmpty, samples.count + new.count > limit { condition.wait() }
            guard !isClosed else { return false }
            samples += new
            condition.broadcast()
            return true
        }
    }

    /// Adds the samples without waiting; the oldest are dropped if too many wait.
    func push(_ new: [Int16]) {
        condition.withLock {
            guard !isClosed else { return }
            samples += new
            let excess = samples.count - limit
            if excess > 0 {
                samples.removeFirst(excess)
                droppedCount += excess
            }
            condition.broadcast()
        }
    }

    /// At most `count` samples, without waiting.
    func take(_ count: Int) -> [Int16] {
        condition.withLock { remove(count) }
    }

    /// At most `count` samples, as soon as there are some.
    ///
    /// - Returns: `nil` if the queue was closed and is empty.
    func wait(_ count: Int) -> [Int16]? {
        condition.withLock {
            while samples.isEmpty {
                if isClosed { return nil }
                condition.wait()
            }
            return remove(count)
        }
    }

    /// Ends all waiting; samples that are already here can still be taken.
    func close() {
        condition.withLock {
            isClosed = true
            condition.broadcast()
        }
    }

    /// How many samples were dropped.
    var dropped: Int { condition.withLock { droppedCount } }

    var isEmpty: Bool { condition.withLock { samples.isEmpty } }

    private func remove(_ count: Int) -> [Int16] {
        let taken = Array(samples.prefix(count))
        guard !taken.isEmpty else { return [] }
        samples.removeFirst(taken.count)
        condition.broadcast()
        return taken
    }
}
