import Foundation

/// One thread that runs jobs in order, with a bounded queue, for work that may block or takes long. The thread ends when
/// nobody holds the worker any more, as after `stop()`.
package final class SerialWorker: Sendable {
    private let queue: WorkerQueue

    /// `limit`: how many jobs may wait.
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
        queue.add(job, patience: patience, beyondLimit: beyondLimit)
    }

    var waiting: Int { queue.waiting }

    /// Runs what waits, then ends the thread; later jobs are refused.
    package func stop() {
        queue.stop()
    }
}

/// What a worker's thread shares with those who give it jobs.
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
            // Once a sleep: from now on the thread is on its way.
            isWaiting = false
            return (true, true)
        }
        // After the lock is free, lest the thread wakes up only to wait for it.
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
