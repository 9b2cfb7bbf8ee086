import MediaPlayer

/// Runs each job at once, on the caller's thread.
package final class InlineQueue: JobQueue {
    package init() {}

    package func submit(patience: Int, beyondLimit: Bool, _ job: @escaping @Sendable () -> Void) -> Bool {
        job()
        return true
    }

    package func stop() {}
}
