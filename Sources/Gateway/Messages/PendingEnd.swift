import Synchronization

/// Whether a stream has said its last word.
final class PendingEnd: Sendable {
    private let over = Mutex(false)

    var isOver: Bool { over.withLock { $0 } }

    func end() { over.withLock { $0 = true } }
}
