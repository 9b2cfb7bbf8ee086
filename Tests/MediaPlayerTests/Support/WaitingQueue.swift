import Synchronization

@testable import MediaPlayer

/// Holds its jobs until the test runs them.
final class WaitingQueue: JobQueue {
    private let jobs = Mutex<[@Sendable () -> Void]>([])

    func submit(patience: Int, beyondLimit: Bool, _ job: @escaping @Sendable () -> Void) -> Bool {
        jobs.withLock { $0.append(job) }
        return true
    }

    func stop() {}

    var count: Int { jobs.withLock { $0.count } }

    func run() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { job() }
    }
}
