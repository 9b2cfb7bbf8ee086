package import IoTCore
package import IoTLink

/// Calls over connections that have ended, which end one after the other.
struct LANEndings: Sendable {
    /// More than all connections can have.
    private static let limit = 2_048

    private let requests: AsyncStream<LinkRequest>
    private let queue: AsyncStream<LinkRequest>.Continuation

    init() {
        (requests, queue) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.limit))
    }

    func add(_ session: String, of user: Principal, _ reason: IoTError) {
        queue.yield(.ending(session, by: user, reason))
    }

    func run(_ handler: @escaping LinkSession.Handler) async {
        for await request in requests { _ = try? await handler(request) }
    }
}

extension LinkRequest {
    /// The end of a call whose connection has ended, as if the other side had hung up.
    package static func ending(_ session: String, by peer: Principal, _ reason: IoTError) -> LinkRequest {
        LinkRequest(
            id: RequestID.random(), method: CallMethod.end.name, from: peer,
            params: CallEnding(CallRoute(peer: peer, session: session), reason).json, t: 0,
            deadline: LANExchange.longestTime)
    }
}
