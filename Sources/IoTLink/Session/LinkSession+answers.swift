public import IoTCore
import Synchronization

extension LinkSession {
    /// Handles a request of the hub that gets any number of answers.
    public typealias ManyHandler = @Sendable (LinkRequest, LinkResponder) async throws(IoTError) -> JSONValue

    /// Registers the multi-answer handler of one method, in place of an earlier handler.
    ///
    /// The handler sends answers with the responder. Its return value is the last answer; null means that there is no
    /// further one. As with `handle`, it is cancelled at the request's deadline, and a repeated request gets the same
    /// answers again.
    public func handleMany(_ method: String, _ handler: @escaping ManyHandler) {
        handle(method) { [weak self] request throws(IoTError) in
            guard let self else { throw IoTError(.stopping) }
            let responder = LinkResponder { [weak self] result throws(IoTError) in
                guard let self else { throw IoTError(.stopping) }
                try self.answer(request, result)
            }
            return try await handler(request, responder)
        }
    }

    /// Sends one of several answers to a running request.
    private func answer(_ request: LinkRequest, _ result: JSONValue) throws(IoTError) {
        let largest = LinkReply(id: request.id, result: result, seq: limits.answersPerRequest, final: false)
        _ = try Envelope.reply(largest).serialized()
        let key = RememberedAnswers.Key(from: request.from, id: request.id)
        switch state.withLock({ $0.machine.hasRoomForAnswer(key) }) {
        case true?: feed(.partlyAnswered(key, result))
        case false?:
            throw IoTError(.tooManyRequests, "a request gets at most \(limits.answersPerRequest) answers")
        case nil: throw IoTError(.callbackNotFound, "the request has ended: an answer cannot be sent")
        }
    }
}

/// Sends the answers of a handler of `LinkSession.handleMany`.
public struct LinkResponder: Sendable {
    private let take: @Sendable (JSONValue) throws(IoTError) -> Void

    public init(_ take: @escaping @Sendable (JSONValue) throws(IoTError) -> Void) {
        self.take = take
    }

    /// Sends the next answer, in the order of the calls. While the link is down the answer is queued.
    ///
    /// Throws 25013 for an answer that is too large for an envelope, 21007 when the request has ended (answered, or
    /// past its deadline), 25024 past `LinkLimits.answersPerRequest`.
    public func send(_ result: JSONValue) throws(IoTError) {
        try take(result)
    }
}
