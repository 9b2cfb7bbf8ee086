import IoTCore
import Synchronization

/// Notifies any number of waiters that something is ready, or why it never will be.
final class ReadySignal: Sendable {
    private typealias Outcome = Result<Void, IoTError>

    private struct State {
        var outcome: Outcome?
        var waiters: [Int: CheckedContinuation<Outcome, Never>] = [:]
        var tickets = 0
    }

    private let state = Mutex(State())

    /// Only the first call has an effect.
    func resolve(_ outcome: Result<Void, IoTError>) {
        let waiters = state.withLock { state in
            guard state.outcome == nil else { return [CheckedContinuation<Outcome, Never>]() }
            state.outcome = outcome
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    /// Throws `stopping` when the waiting task is cancelled.
    func wait() async throws(IoTError) {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Outcome? in
                    // The cancellation handler below may already have run, and found no waiter to remove.
                    if Task.isCancelled { return .failure(IoTError(.stopping)) }
                    if state.outcome == nil { state.waiters[ticket] = continuation }
                    return state.outcome
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: ticket) }
            waiter?.resume(returning: .failure(IoTError(.stopping)))
        }
        try outcome.get()
    }
}
