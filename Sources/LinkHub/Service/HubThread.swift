import Dispatch

/// The hub's own thread, on which SQLite may block. Tasks that prefer it do not use the shared thread pool.
final class HubThread: TaskExecutor {
    let queue = DispatchQueue(label: "hub.service")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
