import Gateway
import GatewayAPI
import Hummingbird
import IoTCore
import NIOCore

/// Streaming bodies hold the request's lease, and end with it.
extension Response {
    /// A body that is sent while it is created. It is cancelled when the client disconnects. If it fails or the lease
    /// ends, the connection is closed without the last chunk, so that the client notices that the body is incomplete.
    init(_ media: MediaBody, to request: APIRequest) {
        var headers: HTTPFields = [.contentType: media.contentType, .cacheControl: "no-store"]
        if let length = media.contentLength { headers[.contentLength] = String(length) }
        headers[.connection] = "close"
        if media.framesDropped != nil { headers[.trailer] = APIHeader.framesDropped }
        let (body, lease) = (request.request.body, request.lease)
        self.init(
            status: .ok, headers: headers,
            body: ResponseBody(contentLength: media.contentLength) { writer in
                try await body.consumeWithCancellationOnInboundClose { _ in
                    for try await chunk in media.chunks {
                        try lease?.check()
                        try await writer.write(chunk)
                    }
                }
                try lease?.check()
                try await writer.finish(media.trailers)
            })
    }

    /// A `text/event-stream` with a comment every `heartbeat`, so that both sides notice a dead connection.
    ///
    /// - Parameter areKept: whether the source of the events keeps those that are not taken yet, and bounds them.
    init<Event: Sendable>(
        events: AsyncStream<Event>, areKept: Bool = false, to request: APIRequest, heartbeat: Duration = .seconds(15),
        format: @escaping @Sendable (Event) throws -> ServerSentEvent
    ) {
        let lines = EventLines(
            events: events, areKept: areKept, lease: request.lease, heartbeat: heartbeat, format: format)
        let body = request.request.body
        self.init(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .connection: "close"],
            body: ResponseBody { writer in
                try await body.consumeWithCancellationOnInboundClose { _ in try await lines.write(to: &writer) }
                try await writer.finish(nil)
            })
    }
}

extension MediaBody {
    fileprivate var trailers: HTTPFields? {
        guard let framesDropped, let name = HTTPFieldName.framesDropped else { return nil }
        return [name: String(framesDropped())]
    }
}
