import Gateway
import GatewayAPI
import Hummingbird
import IoTCore

extension APIRoutes {
    static var channels: [APIRoute] {
        [
            APIRoute(list: "/v1/channels") { _, page, gateway in
                try Response(json: ChannelList(try await gateway.channels.list(page)))
            },
            APIRoute(.post, "/v1/channels", makes: true) { request, gateway in
                let body = try await request.decode(ChannelRequest.self)
                guard (0...255).contains(body.source) else {
                    throw IoTError(.invalidRequest, "source must be from 0 to 255")
                }
                if let definition = body.definition { try APIRequest.check(definition: definition) }
                let channel = try await gateway.channels.open(body)
                var response = try Response(json: channel, status: .created)
                response.headers[.location] = "/v1/channels/\(channel.id)"
                return response
            },
            APIRoute(.get, "/v1/channels/{id}") { request, gateway in
                try Response(json: try await gateway.channels.show(request.parameter("id")))
            },
            // The device has its own limit, which is longer.
            APIRoute(.patch, "/v1/channels/{id}", isTimed: false) { request, gateway in
                let change = try await request.decode(ChannelSettings.self)
                guard change.definition != nil || change.camera != nil else {
                    throw IoTError(.invalidRequest, "nothing is to be changed: definition or camera is needed")
                }
                if let definition = change.definition { try APIRequest.check(definition: definition) }
                return try Response(json: try await gateway.channels.change(request.parameter("id"), change))
            },
            APIRoute(.delete, "/v1/channels/{id}") { request, gateway in
                try Response(json: try await gateway.channels.close(request.parameter("id")))
            },
            APIRoute(.post, "/v1/channels/{id}/play") { request, gateway in
                try Response(json: try await gateway.channels.play(request.parameter("id")))
            },
            APIRoute(.post, "/v1/channels/{id}/talk", isTimed: false) { request, gateway in
                let sound = MediaInput(chunks: request.request.body)
                return try Response(json: try await gateway.channels.talk(request.parameter("id"), sound))
            },
            APIRoute(.delete, "/v1/channels/{id}/talk") { request, gateway in
                try Response(json: try await gateway.channels.stopTalk(request.parameter("id")))
            },
            APIRoute(.get, "/v1/channels/{id}/events", answersHead: false, isTimed: false) { request, gateway in
                let events = try await gateway.channels.events(request.parameter("id"))
                return Response(events: events, to: request) { try $0.serverSentEvent }
            },
        ]
    }

    static var media: [APIRoute] {
        [
            APIRoute(
                .get, "/v1/channels/{id}/snapshot", query: ["format"], answersHead: false
            ) { request, gateway in
                let word = request.query("format") ?? SnapshotFormat.jpeg.rawValue
                guard let format = SnapshotFormat(rawValue: word) else {
                    throw IoTError(.invalidRequest, "format '\(word)' is unknown; known: jpeg, png")
                }
                return try await picture(request) {
                    try await gateway.channels.snapshot(request.parameter("id"), format: format)
                }
            },
            counted("/v1/channels/{id}/recording.mp4") { try await $0.channels.recording($1, frames: $2) },
            counted("/v1/channels/{id}/video.y4m") { try await $0.channels.rawVideo($1, frames: $2) },
            counted("/v1/channels/{id}/audio.wav") { try await $0.channels.rawAudio($1, frames: $2) },
            APIRoute(.get, "/v1/resources/{token}", answersHead: false, isTimed: false) { request, gateway in
                Response(try await gateway.channels.resource(request.parameter("token")), to: request)
            },
        ]
    }

    /// A body made from a channel. It ends after `frames` pictures, if the request sets that.
    private static func counted(
        _ path: String,
        _ body: @escaping @Sendable (any GatewaySession, _ channel: String, _ frames: Int?) async throws -> MediaBody
    ) -> APIRoute {
        APIRoute(.get, path, query: ["frames"], answersHead: false, isTimed: false) { request, gateway in
            let frames = try request.integerQuery("frames", in: 1...Int64(Int32.max)).map(Int.init)
            return Response(try await body(gateway, request.parameter("id"), frames), to: request)
        }
    }

    /// The picture may take a long time. The wait ends if the client disconnects.
    static func picture(
        _ request: APIRequest, _ take: @escaping @Sendable () async throws -> Picture
    ) async throws -> Response {
        let picture = try await request.untilClosed(take)
        var headers: HTTPFields = [
            .contentType: picture.format.contentType,
            .contentLength: String(picture.bytes.readableBytes),
            .cacheControl: "no-store", .connection: "close",
        ]
        if let name = HTTPFieldName.pts { headers[name] = String(picture.pts) }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: picture.bytes))
    }
}
