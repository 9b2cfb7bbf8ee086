import IoTCore

/// Takes the candidates of one call, in order.
final class CandidateFeed: Sendable {
    private let params: JSONValue
    private let continuation: AsyncStream<JSONValue>.Continuation

    init(params: JSONValue, continuation: AsyncStream<JSONValue>.Continuation) {
        self.params = params
        self.continuation = continuation
    }

    /// - Parameter candidate: as `candidate:…`; empty text ends them.
    func tell(_ candidate: String) {
        var params = params
        params["candidate"] = .string(candidate)
        continuation.yield(params)
        if candidate.isEmpty { continuation.finish() }
    }

    deinit {
        continuation.finish()
    }
}
