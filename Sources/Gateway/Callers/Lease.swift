package import IoTCore
import Synchronization

/// A caller's right to an operation in progress: a request, a body, a call.
///
/// `Leases` ends it when the token, the account or the binding ends. The operation holds the lease and calls `check()`
/// or waits for `ended()`; an operation that does not stop is cut off by `abandon`. When the last reference is
/// released, the lease ends and returns its parts of shared resources.
package final class Lease: Sendable {
    private struct State {
        var needs: Set<Need> = []
        var parts: [QuotaPart] = []
        var end: IoTError?
        var wasReviewedEnded = false
    }

    /// What the account must be allowed to do with a device.
    struct Need: Sendable, Hashable {
        var device: String
        var action: DeviceAction
    }

    package let caller: Caller
    /// Called shortly after the end if the lease is still held.
    let abandon: @Sendable () async -> Void
    private let state = Mutex(State())
    private let ending = Readiness<Void>()
    private let onNeed: @Sendable (Need) -> Void
    private let release: @Sendable (Set<Need>) -> Void

    /// - Parameters:
    ///   - onNeed: called for each need once.
    ///   - release: called with all of them, when the last reference is released.
    init(
        caller: Caller, abandon: @escaping @Sendable () async -> Void, onNeed: @escaping @Sendable (Need) -> Void,
        release: @escaping @Sendable (Set<Need>) -> Void
    ) {
        self.caller = caller
        self.abandon = abandon
        self.onNeed = onNeed
        self.release = release
    }

    deinit { release(state.withLock { $0.needs }) }

    /// The lease ends if the account may no longer do this with the device.
    package func needs(device: String, _ action: DeviceAction = .view) {
        let need = Need(device: device, action: action)
        let isNew = state.withLock { $0.needs.insert(need).inserted }
        if isNew { onNeed(need) }
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
    /// - Throws: why the lease has ended; `CancellationError` if the waiting task is cancelled.
    package func ended() async throws {
        try await ending.wait()
    }

    /// Only the first reason is kept.
    func end(_ reason: IoTError) {
        state.withLock { $0.end = $0.end ?? reason }
        ending.settle(.failure(reason))
    }

    /// - Returns: whether the lease had already ended at the previous review, so that its holder had time to notice.
    func noteReview() -> Bool {
        state.withLock { state in
            defer { state.wasReviewedEnded = state.end != nil }
            return state.wasReviewedEnded
        }
    }
}
