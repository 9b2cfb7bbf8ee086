package import IoTCore
package import IoTLink
package import NIOCore

/// The requests and answers of one connection, without input and output. Messages are the link's envelopes
/// (`docs/link.md`), but the times in a request only say how long its sender waits: the clocks of both sides may differ.
package struct LANExchange: Sendable {
    /// The most requests of one side that wait for their answers.
    package static let mostRequests = 64
    /// The most requests of the other side that run, or whose answers wait for it: each may be as large as an envelope.
    package static let mostRunning = 16
    /// Requests of the other side.
    package static let rate = RateLimit.Bound(burst: 100, each: 50)
    /// The longest time for an answer, as for requests over the hub.
    package static let longestTime: Int64 = 600_000

    package enum Event: Sendable, Equatable {
        case asked(LinkRequest, within: TimeAmount)
        case answered(id: String, LinkReply)
        /// Send this message: the request is refused.
        case refused([UInt8])
        /// An answer that nobody waits for any more.
        case ignored
    }

    private var waiting: Set<String> = []
    private var running: Set<String> = []
    /// Requests of the other side whose answers wait until it reads them.
    private var answering = 0
    private var rate = RateLimit(Self.rate)

    package init() {}

    /// - Returns: the request's id and message.
    /// - Throws: 25024 if too many requests wait; 25013 if it is too large.
    package mutating func ask(
        _ method: String, _ params: JSONValue, timeout: Duration
    ) throws(IoTError) -> (id: String, message: [UInt8]) {
        guard waiting.count < Self.mostRequests else { throw IoTError(.tooManyRequests) }
        let id = RequestID.random()
        let time = min(max(Int64(timeout / .milliseconds(1)), 1), Self.longestTime)
        let request = LinkRequest(id: id, method: method, params: params, t: 0, deadline: time)
        let message = try Envelope.request(request).serialized()
        waiting.insert(id)
        return (id, message)
    }

    /// Nobody waits for the answer any more.
    package mutating func giveUp(_ id: String) { waiting.remove(id) }

    /// - Throws: 25001 or 25013 for a message that is none of this protocol's. The connection ends then.
    package mutating func receive(_ message: [UInt8], at now: NIODeadline) throws(IoTError) -> Event {
        switch try Envelope(parsing: message) {
        case .push: throw IoTError(.invalidRequest, "there are no pushes on this connection")
        case .reply(let reply):
            guard waiting.remove(reply.id) != nil else { return .ignored }
            return .answered(id: reply.id, reply)
        case .request(var request):
            guard rate.take(at: now), running.count + answering < Self.mostRunning else {
                return .refused(try Self.answer(request.id, .failure(IoTError(.tooManyRequests))))
            }
            guard running.insert(request.id).inserted else {
                throw IoTError(.invalidRequest, "the request \(request.id) is still running")
            }
            // The connection says who asks.
            (request.from, request.actingAs) = (nil, nil)
            let (time, isTooLong) = request.deadline.subtractingReportingOverflow(request.t)
            let limit = isTooLong ? Self.longestTime : min(max(time, 1), Self.longestTime)
            return .asked(request, within: .milliseconds(limit))
        }
    }

    /// The message with the answer to a request of the other side. Call `answered` when it has been sent.
    package mutating func finish(_ id: String, _ outcome: Result<JSONValue, IoTError>) -> [UInt8]? {
        running.remove(id)
        answering += 1
        if let message = try? Self.answer(id, outcome) { return message }
        return try? Self.answer(id, .failure(IoTError(.payloadTooLarge)))
    }

    /// The answer that `finish` returned has been sent, or cannot be.
    package mutating func answered() { answering -= 1 }

    private static func answer(_ id: String, _ outcome: Result<JSONValue, IoTError>) throws(IoTError) -> [UInt8] {
        try Envelope.reply(LinkReply(id: id, outcome: outcome)).serialized()
    }
}
