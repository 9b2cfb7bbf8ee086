public import IoTCore
import NIOCore
import Synchronization

extension LinkSession {
    public func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue {
        try await request(method, params, timeout: timeout, id: id, as: nil)
    }

    /// Like `request(_:_:timeout:id:)`, but in the name of `account` if it is set. Only an administrator may do that
    /// (otherwise 25005). The hub checks the account's rights.
    public func request(
        _ method: String, _ params: JSONValue = .object([:]), timeout: Duration = .seconds(10), id: String? = nil,
        as account: Principal?
    ) async throws(IoTError) -> JSONValue {
        let id = try Self.checked(id)
        let ticket = Self.mintTicket()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                start(method, params, timeout: timeout, id: id, as: account, ticket, .one(continuation))
                // A cancellation before `start` found no request to cancel.
                if Task.isCancelled { giveUp(id, ticket) }
            }
        } onCancel: {
            Self.outsideCancellation { self.giveUp(id, ticket) }
        }
        return try outcome.get()
    }

    /// Sends a request that has several answers. The stream yields them in order and finishes after the last.
    ///
    /// It throws an `IoTError` as `request` does, and 25022 when more than `LinkLimits.waitingAnswers` are unread.
    /// Dropping the stream cancels the request.
    public func responses(
        _ method: String, _ params: JSONValue = .object([:]), timeout: Duration, id: String? = nil,
        as account: Principal? = nil
    ) -> AsyncThrowingStream<JSONValue, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: JSONValue.self, bufferingPolicy: .bufferingOldest(limits.waitingAnswers))
        do throws(IoTError) {
            let id = try Self.checked(id)
            let ticket = Self.mintTicket()
            continuation.onTermination = { [weak self] termination in
                guard case .cancelled = termination else { return }
                Self.outsideCancellation { [weak self] in self?.giveUp(id, ticket) }
            }
            start(method, params, timeout: timeout, id: id, as: account, ticket, .many(continuation))
        } catch {
            continuation.finish(throwing: error)
        }
        return stream
    }

    private static let tickets = Atomic(0)

    /// A ticket distinguishes callers that use the same id one after the other, so that a late cancellation does not
    /// cancel another caller's request.
    private static func mintTicket() -> Int {
        tickets.wrappingAdd(1, ordering: .relaxed).newValue
    }

    private func giveUp(_ id: String, _ ticket: Int) {
        feed([.cancel(id: id)]) { $0.waiters[id]?.ticket == ticket }
    }

    private static func checked(_ id: String?) throws(IoTError) -> String {
        guard let id else { return RequestID.random() }
        guard RequestID.isValid(id) else {
            throw IoTError(.invalidRequest, "a request id is 1 to 64 characters of [A-Za-z0-9._-]")
        }
        return id
    }

    private func start(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String, as account: Principal?,
        _ ticket: Int, _ waiter: LinkSessionState.Waiter
    ) {
        let isNew = state.withLock { state in
            guard state.waiters[id] == nil, !state.isOver else { return false }
            state.waiters[id] = (ticket, waiter)
            return true
        }
        guard isNew else {
            let error = IoTError(state.withLock { $0.isOver } ? .stopping : .duplicateMessage)
            switch waiter {
            case .one(let continuation): continuation.resume(returning: .failure(error))
            case .many(let stream): stream.finish(throwing: error)
            }
            return
        }
        let takesMany = if case .many = waiter { true } else { false }
        let bounded = min(max(timeout, .zero), .seconds(86_400))
        feed(
            .request(
                PendingRequests.Entry(
                    id: id, method: method, params: params, actingAs: account,
                    deadline: .now() + TimeAmount(bounded), takesMany: takesMany)))
    }
}
