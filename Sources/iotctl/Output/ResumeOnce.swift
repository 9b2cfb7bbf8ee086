import Synchronization

/// Resumes a continuation with the first of several results.
final class ResumeOnce<Value: Sendable>: Sendable {
    private enum State {
        case waiting(CheckedContinuation<Value, any Error>)
        case early(Result<Value, any Error>)
        case open
        case resumed
    }

    private let state = Mutex(State.open)

    func set(_ continuation: CheckedContinuation<Value, any Error>) {
        let early = state.withLock { state -> Result<Value, any Error>? in
            if case .early(let result) = state {
                state = .resumed
                return result
            }
            state = .waiting(continuation)
            return nil
        }
        if let early { continuation.resume(with: early) }
    }

    func resume(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .waiting(let continuation):
                state = .resumed
                return continuation
            case .open:
                state = .early(result)
                return nil
            case .early, .resumed:
                return nil
            }
        }
        continuation?.resume(with: result)
    }
}
