import CFFmpeg
import NIOCore

/// Answers libav during a blocking call: whether to stop because of cancellation or a timeout.
///
/// The callback runs on the calling thread, so the deadline needs no lock.
final class InterruptGate {
    private let cancellation: DemuxerCancellation
    private var deadline = NIODeadline.distantFuture
    private(set) var didTimeOut = false

    init(cancellation: DemuxerCancellation) {
        self.cancellation = cancellation
    }

    var isCancelled: Bool { cancellation.isCancelled }

    func start(timeout: Duration) {
        deadline = .now() + TimeAmount(timeout)
        didTimeOut = false
    }

    func shouldStop() -> Bool {
        if cancellation.isCancelled { return true }
        if NIODeadline.now() >= deadline { didTimeOut = true }
        return didTimeOut
    }

    /// Valid during the lifetime of the gate.
    var callback: AVIOInterruptCB {
        AVIOInterruptCB(
            callback: { opaque in
                guard let opaque else { return 0 }
                return Unmanaged<InterruptGate>.fromOpaque(opaque).takeUnretainedValue().shouldStop() ? 1 : 0
            }, opaque: Unmanaged.passUnretained(self).toOpaque())
    }
}
