/// Runs jobs in order, one at a time.
package protocol JobQueue: AnyObject, Sendable {
    /// Adds a job. Returns false if the queue is full or stopped: the job will not run.
    ///
    /// - Parameters:
    ///   - patience: the job may wait for later jobs, until more than this many wait.
    ///   - beyondLimit: true for the few jobs that must not be lost because the queue is full, for example its end.
    @discardableResult
    func submit(patience: Int, beyondLimit: Bool, _ job: @escaping @Sendable () -> Void) -> Bool

    /// Runs the waiting jobs and refuses later ones.
    func stop()
}

extension SerialWorker: JobQueue {}
