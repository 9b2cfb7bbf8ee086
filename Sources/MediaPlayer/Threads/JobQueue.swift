/// Runs jobs in order, one at a time.
package protocol JobQueue: AnyObject, Sendable {
    /// False when the queue is full or was stopped: the job will not run.
    ///
    /// - Parameters:
    ///   - patience: The job may wait for the next one, until more than this many wait.
    ///   - beyondLimit: for the few jobs that must not be lost to a full queue, such as its end.
    @discardableResult
    func submit(patience: Int, beyondLimit: Bool, _ job: @escaping @Sendable () -> Void) -> Bool

    /// Runs what waits; later jobs are refused.
    func stop()
}

extension SerialWorker: JobQueue {}
