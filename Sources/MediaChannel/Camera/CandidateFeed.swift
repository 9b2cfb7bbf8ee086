import IoTLink

/// Receives the candidates of one call, in order.
final class CandidateFeed: Sendable {
    private let route: CallRoute
    private let continuation: AsyncStream<CallCandidate>.Continuation

    init(route: CallRoute, continuation: AsyncStream<CallCandidate>.Continuation) {
        self.route = route
        self.continuation = continuation
    }

    /// - Parameter candidate: as `candidate:…`; empty text marks the end of the candidates.
    func tell(_ candidate: String) {
        continuation.yield(CallCandidate(route, candidate: candidate))
        if candidate.isEmpty { continuation.finish() }
    }

    deinit {
        continuation.finish()
    }
}
