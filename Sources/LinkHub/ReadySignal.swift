import IoTCore
import NIOConcurrencyHelpers

/// Tells any number of waiters that something is ready, or why it never will be.
final class ReadySignal: Sendable {
    private struct State {
        var outcome: Result<Void, IoTError>?
        var waiters: [CheckedContinuation<Result<Void, IoTError>, Never>] = []
    }

    private let state = NIOLockedValueBox(State())

    /// Only the first call has an effect.
    func resolve(_ outcome: Result<Void, IoTError>) {
        let waiters = state.withLockedValue { state in
            guard state.outcome == nil else { return [CheckedContinuation<Result<Void, IoTError>, Never>]() }
            state.outcome = outcome
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    func wait() async throws(IoTError) {
        let outcome = await withCheckedContinuation { continuation in
            let known = state.withLockedValue { state in
                if state.outcome == nil { state.waiters.append(continuation) }
                return state.outcome
            }
            if let known { continuation.resume(returning: known) }
        }
        try outcome.get()
    }
}
