import Foundation

/// One thread that runs jobs in order, with a bounded queue, for work that may block or takes long.
///
/// `@unchecked Sendable`: all mutable state is behind `condition`.
package final class SerialWorker: @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [@Sendable () -> Void] = []
    private var isStopping = false
    private var isWaiting = false
    private let limit: Int

    /// `limit`: how many jobs may wait.
    package init(name: String, limit: Int) {
        self.limit = limit
        let thread = Thread { [self] in
            ThreadName.set(name)
            run()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// False when the queue is full or the worker was stopped: the job will not run.
    ///
    /// - Parameters:
    ///   - patience: The job may wait for the next one, until more than this many wait; a wake-up costs more than
    ///     a small job. 0: it runs at once.
    ///   - beyondLimit: for the few jobs that must not be lost to a full queue, such as its end.
    @discardableResult
    package func submit(
        patience: Int = 0, beyondLimit: Bool = false, _ job: @escaping @Sendable () -> Void
    ) -> Bool {
        let (isTaken, wakes) = condition.withLock {
            guard !isStopping, beyondLimit || jobs.count < limit else { return (false, false) }
            jobs.append(job)
            guard isWaiting, jobs.count > patience else { return (true, false) }
            // Once a sleep: from now on the thread is on its way.
            isWaiting = false
            return (true, true)
        }
        // Behind the lock, lest the thread wakes up only to wait for it.
        if wakes { condition.signal() }
        return isTaken
    }

    var waiting: Int {
        condition.withLock { jobs.count }
    }

    /// Runs what waits, then ends the thread; later jobs are refused.
    package func stop() {
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
                isWaiting = true
                condition.wait()
                isWaiting = false
            }
            defer { jobs.removeAll(keepingCapacity: true) }
            return jobs
        }
    }
}
