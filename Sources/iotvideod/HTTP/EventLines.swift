import Gateway
import GatewayAPI
import Hummingbird
import IoTCore
import NIOCore

/// Merges a stream of events and a heartbeat into the lines of a `text/event-stream`.
///
/// If the source keeps events until they are taken, the next one is taken when the one before has been written. Such a
/// source itself ends the stream of a client that is too slow.
///
/// Events of another source wait here, at most `capacity` lines. A client that is slower gets an `error` event (25022), and
/// its stream ends: it can read the current state and watch again.
///
/// When the lease ends, the stream ends with an `error` event that contains the reason.
struct EventLines<Event: Sendable>: Sendable {
    static var capacity: Int { 256 }

    private enum Line {
        case event(String)
        case heartbeat

        var text: String {
            switch self {
            case .event(let text): text
            case .heartbeat: ServerSentEvent.heartbeat
            }
        }
    }

    let events: AsyncStream<Event>
    /// Whether the source keeps the events that are not taken yet, and bounds them.
    let areKept: Bool
    let lease: Lease?
    let heartbeat: Duration
    let format: @Sendable (Event) throws -> ServerSentEvent

    /// Writes until the events end or the task is cancelled.
    func write(to writer: inout any ResponseBodyWriter) async throws {
        let (lines, source) = AsyncStream.makeStream(of: Line.self, bufferingPolicy: .bufferingOldest(Self.capacity))
        let (written, write) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        // Each task that ends the stream returns the error to send. Cancellation ends the heartbeat.
        try await withThrowingTaskGroup(of: IoTError?.self) { group in
            group.addTask {
                defer { source.finish() }
                var room = written.makeAsyncIterator()
                for await event in events {
                    if case .dropped = source.yield(.event(try format(event).text)) { return Self.slowReader }
                    if areKept, await room.next() == nil { return nil }
                }
                return nil
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: heartbeat)
                    source.yield(.heartbeat)
                }
            }
            if let lease {
                group.addTask {
                    defer { source.finish() }
                    do {
                        try await lease.ended()
                        return nil
                    } catch let error as IoTError {
                        return error
                    }
                }
            }
            // Written at once, so that the client receives the head and knows that the watch has begun.
            try await writer.write(ByteBuffer(string: ": open\n\n"))
            for await line in lines {
                try await writer.write(ByteBuffer(string: line.text))
                if case .event = line { write.yield() }
            }
            let error = try await group.next() ?? nil
            group.cancelAll()
            if let error { try await writer.write(ByteBuffer(string: Self.text(of: error))) }
        }
    }

    private static var slowReader: IoTError {
        IoTError(
            .slowReader, "the reader was too slow and events were lost", remedy: "read faster, and connect again")
    }

    private static func text(of error: IoTError) -> String {
        let data = (try? APICoding.encode(APIError(error))) ?? []
        return ServerSentEvent(name: "error", data: String(decoding: data, as: UTF8.self)).text
    }
}
