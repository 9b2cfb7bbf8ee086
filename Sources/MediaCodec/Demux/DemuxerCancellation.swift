import Synchronization

/// Cancels a demuxer's blocking call from another thread. Cancellation is permanent.
public final class DemuxerCancellation: Sendable {
    private let flag = Atomic<Bool>(false)
    private let handlers = Mutex<[@Sendable () -> Void]>([])

    public init() {}

    /// Makes the demuxer's current and later calls fail with `stopping` within about 0.1 s.
    public func cancel() {
        flag.store(true, ordering: .releasing)
        let handlers = handlers.withLock { handlers in
            defer { handlers = [] }
            return handlers
        }
        for handler in handlers { handler() }
    }

    /// Calls `handler` on cancellation, or immediately if already cancelled. Replaces the previous handler.
    package func onCancel(_ handler: @escaping @Sendable () -> Void) {
        handlers.withLock { $0 = [handler] }
        if isCancelled { handler() }
    }

    public var isCancelled: Bool {
        flag.load(ordering: .acquiring)
    }
}
