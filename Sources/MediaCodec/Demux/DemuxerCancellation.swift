import Synchronization

/// Cancels a demuxer's blocking call from another thread. Cancellation is permanent.
public final class DemuxerCancellation: Sendable {
    private let flag = Atomic<Bool>(false)

    public init() {}

    /// Makes the demuxer's current and later calls fail with `stopping` within about 0.1 s.
    public func cancel() {
        flag.store(true, ordering: .releasing)
    }

    public var isCancelled: Bool {
        flag.load(ordering: .acquiring)
    }
}
