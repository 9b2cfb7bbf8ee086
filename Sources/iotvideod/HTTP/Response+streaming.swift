import GatewayAPI
import Hummingbird
import IoTCore
import NIOCore

extension Response {
    /// A body that is sent while it is made. The client's closing the connection cancels it; a failure of its own
    /// closes the connection without the last chunk, so that no client takes a part for the whole.
    init(_ media: MediaBody, to request: Request) {
        var headers: HTTPFields = [.contentType: media.contentType, .cacheControl: "no-store"]
        if let length = media.contentLength { headers[.contentLength] = String(length) }
        headers[.connection] = "close"
        self.init(
            status: .ok, headers: headers,
            body: ResponseBody(contentLength: media.contentLength) { writer in
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    for try await chunk in media.chunks { try await writer.write(chunk) }
                }
                try await writer.finish(nil)
            })
    }

    /// A `text/event-stream`, with a comment every `heartbeat` so that a dead connection is noticed by both.
    init<Event: Sendable>(
        events: AsyncStream<Event>, to request: Request, heartbeat: Duration = .seconds(15),
        format: @escaping @Sendable (Event) throws -> ServerSentEvent
    ) {
        self.init(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .connection: "close"],
            body: ResponseBody { writer in
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    try await EventLines(events: events, heartbeat: heartbeat, format: format).write(to: &writer)
                }
                try await writer.finish(nil)
            })
    }
}
