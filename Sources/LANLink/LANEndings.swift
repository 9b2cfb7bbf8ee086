import IoTCore
import IoTLink

/// Calls over connections of users whose rights were withdrawn, which end one after the other.
struct LANEndings: Sendable {
    /// More than all connections can have.
    private static let limit = 2_048

    private let requests: AsyncStream<LinkRequest>
    private let queue: AsyncStream<LinkRequest>.Continuation

    init() {
        (requests, queue) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.limit))
    }

    func add(_ session: String, of user: Principal, _ reason: IoTError) {
        let ending = CallEnding(CallRoute(peer: user, session: session), reason)
        queue.yield(
            LinkRequest(
                id: RequestID.random(), method: CallMethod.end.name, from: user, params: ending.json, t: 0,
                deadline: LANExchange.longestTime))
    }

    func run(_ handler: @escaping LinkSession.Handler) async {
        for await request in requests { _ = try? await handler(request) }
    }
}
