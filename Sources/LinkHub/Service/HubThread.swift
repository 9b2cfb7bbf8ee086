import Dispatch

/// The hub's own thread, on which SQLite may block: tasks that prefer it run on no thread of the shared pool.
final class HubThread: TaskExecutor {
    let queue = DispatchQueue(label: "hub.service")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
