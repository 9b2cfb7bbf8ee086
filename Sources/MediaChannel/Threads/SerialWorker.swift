import Foundation

/// One thread that runs jobs in order, with a bounded queue, for work that may block or takes long.
///
/// `@unchecked Sendable`: all mutable state is behind `condition`.
final class SerialWorker: @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [@Sendable () -> Void] = []
    private var isStopping = false
    private let limit: Int

    /// `limit`: how many jobs may wait.
    init(name: String, limit: Int) {
        self.limit = limit
        let thread = Thread { [self] in run() }
        thread.name = name
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// False when the queue is full or the worker was stopped: the job will not run.
    ///
    /// `beyondLimit`: for the few jobs that must not be lost to a full queue, such as its end.
    @discardableResult
    func submit(beyondLimit: Bool = false, _ job: @escaping @Sendable () -> Void) -> Bool {
        condition.withLock {
            guard !isStopping, beyondLimit || jobs.count < limit else { return false }
            jobs.append(job)
            condition.signal()
            return true
        }
    }

    var waiting: Int {
        condition.withLock { jobs.count }
    }

    /// Runs what waits, then ends the thread; later jobs are refused.
    func stop() {
        condition.withLock {
            isStopping = true
            condition.signal()
        }
    }

    private func run() {
        while let batch = nextBatch() {
            for job in batch { job() }
        }
    }

    private func nextBatch() -> [@Sendable () -> Void]? {
        condition.withLock {
            while jobs.isEmpty {
                if isStopping { return nil }
                condition.wait()
            }
            defer { jobs.removeAll(keepingCapacity: true) }
            return jobs
        }
    }
}
