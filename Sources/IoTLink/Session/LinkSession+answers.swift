public import IoTCore
import Synchronization

extension LinkSession {
    /// Answers a request of the hub with any number of answers.
    public typealias ManyHandler = @Sendable (LinkRequest, LinkResponder) async throws(IoTError) -> JSONValue

    /// Registers what answers the hub's requests of one method with several answers, in place of an earlier handler.
    ///
    /// What it returns is the last answer; null only tells the asker that there are no more. Otherwise as `handle`: it is cancelled at the request's deadline, and a repeated request gets the same answers again.
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

    /// Gives one of several answers of a request that runs.
    private func answer(_ request: LinkRequest, _ result: JSONValue) throws(IoTError) {
        let largest = LinkReply(id: request.id, result: result, seq: limits.answersPerRequest, final: false)
        _ = try Envelope.reply(largest).serialized()
        let key = RememberedAnswers.Key(from: request.from, id: request.id)
        switch state.withLock({ $0.machine.hasRoomForAnswer(key) }) {
        case true?: feed(.partlyAnswered(key, result))
        case false?:
            throw IoTError(.tooManyRequests, "a request gets at most \(limits.answersPerRequest) answers")
        case nil: throw IoTError(.operationTimeout, "the request is over: nobody waits for an answer")
        }
    }
}

/// Where a handler of `LinkSession.handleMany` gives its answers.
public struct LinkResponder: Sendable {
    private let take: @Sendable (JSONValue) throws(IoTError) -> Void

    public init(_ take: @escaping @Sendable (JSONValue) throws(IoTError) -> Void) {
        self.take = take
    }

    /// Sends the next answer, in the order of the calls; while the link is down it waits for it.
    ///
    /// Throws 25013 for an answer too large for an envelope, 20136 when the request is over (answered, or past its
    /// deadline), 25024 past `LinkLimits.answersPerRequest`.
    public func send(_ result: JSONValue) throws(IoTError) {
        try take(result)
    }
}
