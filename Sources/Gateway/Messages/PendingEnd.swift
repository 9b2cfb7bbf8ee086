import Synchronization

/// Whether a stream has sent its last event.
final class PendingEnd: Sendable {
    private let over = Mutex(false)

    var isOver: Bool { over.withLock { $0 } }

    func end() { over.withLock { $0 = true } }
}
