import GatewayAPI
import Hummingbird
import IoTCore
import NIOCore

/// Merges a stream of events with a heartbeat into the lines of a `text/event-stream`.
///
/// At most `capacity` lines wait for a slow client; one that falls further behind is told with an `error` event
/// (25022) and its stream ends: it can look at the present state and watch again.
struct EventLines<Event: Sendable>: Sendable {
    static var capacity: Int { 256 }

    let events: AsyncStream<Event>
    let heartbeat: Duration
    let format: @Sendable (Event) throws -> ServerSentEvent

    /// Writes until the events end; cancelling ends it too.
    func write(to writer: inout any ResponseBodyWriter) async throws {
        let (lines, source) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(Self.capacity))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                defer { source.finish() }
                for await event in events {
                    if case .dropped = source.yield(try format(event).text) { return true }
                }
                return false
            }
            group.addTask {
                // Ends by cancellation.
                while true {
                    try await Task.sleep(for: heartbeat)
                    source.yield(ServerSentEvent.heartbeat)
                }
            }
            // The head travels at once, so that a client knows that it is watching.
            try await writer.write(ByteBuffer(string: ": open\n\n"))
            for await line in lines { try await writer.write(ByteBuffer(string: line)) }
            let overflowed = try await group.next() ?? false
            group.cancelAll()
            if overflowed { try await writer.write(ByteBuffer(string: Self.overflow)) }
        }
    }

    private static var overflow: String {
        let error = APIError(
            IoTError(
                .slowReader, "the reader was too slow and events were lost", remedy: "read faster, and connect again"))
        let data = (try? APICoding.encode(error)) ?? []
        return ServerSentEvent(name: "error", data: String(decoding: data, as: UTF8.self)).text
    }
}
