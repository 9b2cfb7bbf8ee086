import Synchronization

/// A result that is settled once and awaited by any number of tasks.
package final class Readiness<Value: Sendable>: Sendable {
    private enum State {
        case open([Int: CheckedContinuation<Value, any Error>], next: Int)
        case settled(Result<Value, any Error>)
    }

    private let state = Mutex(State.open([:], next: 0))

    package init() {}

    /// Only the first call has an effect.
    package func settle(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, any Error>] in
            guard case .open(let continuations, _) = state else { return [] }
            state = .settled(result)
            return Array(continuations.values)
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    package func wait() async throws -> Value {
        let ticket = state.withLock { state -> Int in
            guard case .open(let continuations, let next) = state else { return 0 }
            state = .open(continuations, next: next + 1)
            return next
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let settled = state.withLock { state -> Result<Value, any Error>? in
                    // The handler below may have run already. It then found no continuation to remove.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    switch state {
                    case .settled(let result): return result
                    case .open(var continuations, let next):
                        continuations[ticket] = continuation
                        state = .open(continuations, next: next)
                        return nil
                    }
                }
                if let settled { continuation.resume(with: settled) }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
                guard case .open(var continuations, let next) = state else { return nil }
                defer { state = .open(continuations, next: next) }
                return continuations.removeValue(forKey: ticket)
            }
            continuation?.resume(throwing: CancellationError())
        }
    }
}
