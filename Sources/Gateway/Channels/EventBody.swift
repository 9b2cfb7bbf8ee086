import GatewayAPI
import NIOCore
import Synchronization

/// A body of server-sent events. The next event is taken only when the one before was sent.
final class EventBody: Sendable {
    enum Step: Sendable {
        case event(ServerSentEvent)
        /// Nothing came for a time; both sides notice a dead connection.
        case heartbeat
        /// The body ends after this event.
        case last(ServerSentEvent)
    }

    private enum State {
        case before
        case within
        case ended
    }

    private let state = Mutex(State.before)
    private let step: @Sendable () async throws -> Step

    /// - Parameter step: waits for the next event; it is not called while another call runs, nor after the last event.
    init(_ step: @escaping @Sendable () async throws -> Step) {
        self.step = step
    }

    func body(_ part: QuotaPart) -> MediaBody {
        var body = MediaBody(
            contentType: "text/event-stream", chunks: AsyncThrowingStream(unfolding: { try await self.next() }))
        body.part = part
        return body
    }

    private func next() async throws -> ByteBuffer? {
        switch state.withLock({ $0 }) {
        case .before:
            state.withLock { $0 = .within }
            // So that the client gets the head, and knows that the reading has begun.
            return ByteBuffer(string: ": open\n\n")
        case .ended: return nil
        case .within: break
        }
        switch try await step() {
        case .event(let event): return ByteBuffer(string: event.text)
        case .heartbeat: return ByteBuffer(string: ServerSentEvent.heartbeat)
        case .last(let event):
            state.withLock { $0 = .ended }
            return ByteBuffer(string: event.text)
        }
    }
}
