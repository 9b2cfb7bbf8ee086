import Foundation
import IoTCore

/// A thread with a bounded queue that runs jobs in order, for work that may block or takes long. The thread ends after
/// `stop()`, or when the worker is released.
package final class SerialWorker: Sendable {
    private let queue: WorkerQueue

    /// `limit`: the maximum number of waiting jobs.
    package init(name: String, limit: Int) {
        let queue = WorkerQueue(limit: limit)
        self.queue = queue
        let thread = Thread {
            ThreadName.set(name)
            queue.run()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    deinit {
        queue.stop()
    }

    /// Adds a job. Returns false if the queue is full or the worker was stopped: the job will not run.
    ///
    /// - Parameters:
    ///   - patience: the job may wait for later jobs, until more than this many wait, because a wake-up costs more than
    ///     a small job. 0: the job runs at once.
    ///   - beyondLimit: true for the few jobs that must not be lost because the queue is full, for example its end.
    @discardableResult
    package func submit(
        patience: Int = 0, beyondLimit: Bool = false, _ job: @escaping @Sendable () -> Void
    ) -> Bool {
        queue.add(job, patience: patience, beyondLimit: beyondLimit)
    }

    var waiting: Int { queue.waiting }

    /// Runs the waiting jobs, then ends the thread; later jobs are refused.
    package func stop() {
        queue.stop()
    }
}

/// The state that a worker's thread shares with its callers.
///
/// `@unchecked Sendable`: `condition` guards all mutable state.
private final class WorkerQueue: @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [@Sendable () -> Void] = []
    private var isStopping = false
    private var isWaiting = false
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    func add(_ job: @escaping @Sendable () -> Void, patience: Int, beyondLimit: Bool) -> Bool {
        let (isTaken, wakes) = condition.withLock {
            guard !isStopping, beyondLimit || jobs.count < limit else { return (false, false) }
            jobs.append(job)
            guard isWaiting, jobs.count > patience else { return (true, false) }
            // One signal per sleep is enough: the thread is waking up from now on.
            isWaiting = false
            return (true, true)
        }
        // Signal after unlocking; otherwise the thread would wake up only to wait for the lock.
        if wakes { condition.signal() }
        return isTaken
    }

    var waiting: Int {
        condition.withLock { jobs.count }
    }

    func stop() {
        condition.withLock {
            isStopping = true
            condition.signal()
        }
    }

    func run() {
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
