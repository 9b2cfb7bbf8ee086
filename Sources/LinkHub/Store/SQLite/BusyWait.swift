import Glibc
import Synchronization

/// How long a statement waits for another program's database lock: 5 s, and not longer than the hub runs.
final class BusyWait: Sendable {
    private static let pause: UInt32 = 5_000
    private static let longest = 5_000_000

    private let isOver = Mutex(false)

    /// Ends all waits, present and future.
    func end() {
        isOver.withLock { $0 = true }
    }

    /// SQLite's busy handler: pauses the store's own thread.
    ///
    /// - Returns: Whether to try again.
    func tryAgain(afterTries tries: Int) -> Bool {
        guard tries < Self.longest / Int(Self.pause), !isOver.withLock({ $0 }) else { return false }
        usleep(Self.pause)
        return true
    }
}
