package import IoTCore
import Synchronization

/// A caller's right for as long as something goes on in its name: a request, a body, a call.
///
/// `Leases` ends it with the token, the account or the binding. What goes on holds it, and asks `check()` or waits for
/// `ended()`; what does not end by itself is cut off by `abandon`. With the last reference it is over, and what was put
/// into it is given back.
package final class Lease: Sendable {
    private struct State {
        /// Ids of those without which it ends.
        var devices: Set<String> = []
        var parts: [QuotaPart] = []
        var end: IoTError?
        var wasReviewedEnded = false
    }

    package let caller: Caller
    /// Runs a moment after the end, where the lease is held still.
    let abandon: @Sendable () async -> Void
    private let state = Mutex(State())
    private let ending = Readiness<Void>()
    private let release: @Sendable () -> Void

    init(
        caller: Caller, abandon: @escaping @Sendable () async -> Void, release: @escaping @Sendable () -> Void
    ) {
        self.caller = caller
        self.abandon = abandon
        self.release = release
    }

    deinit { release() }

    var devices: Set<String> { state.withLock { $0.devices } }

    /// It ends when the account may no longer view this device.
    package func needs(device: String) {
        _ = state.withLock { $0.devices.insert(device) }
    }

    package func keep(_ part: QuotaPart) {
        state.withLock { $0.parts.append(part) }
    }

    /// - Throws: why it has ended.
    package func check() throws(IoTError) {
        if let end = state.withLock({ $0.end }) { throw end }
    }

    /// Waits for the end.
    ///
    /// - Throws: why it has ended; `CancellationError` when the waiting task is cancelled.
    package func ended() async throws {
        try await ending.wait()
    }

    /// The first reason counts.
    func end(_ reason: IoTError) {
        state.withLock { $0.end = $0.end ?? reason }
        ending.settle(.failure(reason))
    }

    var hasEnded: Bool { state.withLock { $0.end != nil } }

    /// - Returns: whether it had ended at an earlier review, so that its holder had time to notice.
    func noteReview() -> Bool {
        state.withLock { state in
            defer { state.wasReviewedEnded = state.end != nil }
            return state.wasReviewedEnded
        }
    }
}
