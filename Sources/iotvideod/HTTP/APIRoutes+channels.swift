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
                guard !change.isEmpty else {
                    let members = ChannelSettings.members.joined(separator: ", ")
                    throw IoTError(.invalidRequest, "nothing is to be changed: one of \(members) is needed")
                }
                if let definition = change.definition { try APIRequest.check(definition: definition) }
                return try Response(json: try await gateway.channels.change(request.parameter("id"), change))
            },
            APIRoute(.patch, "/v1/channels/{id}/playback") { request, gateway in
                let change = try await request.decode(PlaybackRequest.self)
                guard !change.isEmpty else {
                    let members = PlaybackRequest.members.joined(separator: ", ")
                    throw IoTError(.invalidRequest, "nothing is to be changed: one of \(members) is needed")
                }
                for time in [change.time, change.end].compactMap({ $0 }) {
                    guard APIRequest.moments.contains(time) else {
                        throw IoTError(
                            .invalidRequest, "time and end are ms since 1970, at most \(APIRequest.moments.upperBound)")
                    }
                }
                return try Response(json: try await gateway.channels.changePlayback(request.parameter("id"), change))
            },
            APIRoute(.post, "/v1/channels/{id}/playback/step") { request, gateway in
                try Response(json: try await gateway.channels.stepPlayback(request.parameter("id")))
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
                .get, "/v1/channels/{id}/snapshot", query: ["format", "size", "scaling"], answersHead: false
            ) { request, gateway in
                let word = request.query("format") ?? SnapshotFormat.jpeg.rawValue
                guard let format = SnapshotFormat(rawValue: word) else {
                    throw IoTError(.invalidRequest, "format '\(word)' is unknown; known: jpeg, png")
                }
                let fit = try request.pictureFit
                return try await picture(request) {
                    try await gateway.channels.snapshot(request.parameter("id"), format: format, fit: fit)
                }
            },
            counted("/v1/channels/{id}/recording.mp4") { try await $1.channels.recording($0.id, frames: $0.frames) },
            counted("/v1/channels/{id}/video.y4m", query: ["size", "scaling"]) {
                try await $1.channels.rawVideo($0.id, frames: $0.frames, fit: $0.fit)
            },
            counted("/v1/channels/{id}/audio.wav") { try await $1.channels.rawAudio($0.id, frames: $0.frames) },
            APIRoute(
                .get, "/v1/channels/{id}/dump", query: ["part"], answersHead: false, isTimed: false
            ) { request, gateway in
                guard let part = request.query("part").flatMap(DumpPart.init) else {
                    let known = DumpPart.allCases.map(\.rawValue).joined(separator: ", ")
                    throw IoTError(.invalidRequest, "part must be one of \(known)")
                }
                return Response(try await gateway.channels.dump(request.parameter("id"), part), to: request)
            },
            APIRoute(.get, "/v1/resources/{token}", answersHead: false, isTimed: false) { request, gateway in
                Response(try await gateway.channels.resource(request.parameter("token")), to: request)
            },
        ]
    }

    /// Which body of a channel is wanted.
    private struct BodyWish: Sendable {
        let id: String
        /// The number of pictures after which it ends; `nil` for none.
        let frames: Int?
        let fit: PictureFit?
    }

    /// A body made from a channel.
    private static func counted(
        _ path: String, query: Set<String> = [],
        _ body: @escaping @Sendable (BodyWish, any GatewaySession) async throws -> MediaBody
    ) -> APIRoute {
        APIRoute(
            .get, path, query: query.union(["frames"]), answersHead: false, isTimed: false
        ) { request, gateway in
            let wish = BodyWish(
                id: request.parameter("id"),
                frames: try request.integerQuery("frames", in: 1...Int64(Int32.max)).map(Int.init),
                fit: try request.pictureFit)
            return Response(try await body(wish, gateway), to: request)
        }
    }

    /// The picture may take a long time. The wait ends if the client disconnects.
    static func picture(
        _ request: APIRequest, _ take: @escaping @Sendable () async throws -> Picture
    ) async throws -> Response {
        var response = response(try await request.untilClosed(take))
        response.headers[.connection] = "close"
        return response
    }

    static func response(_ picture: Picture) -> Response {
        var headers: HTTPFields = [
            .contentType: picture.format.contentType,
            .contentLength: String(picture.bytes.readableBytes),
            .cacheControl: "no-store",
        ]
        if let name = HTTPFieldName.pts { headers[name] = String(picture.pts) }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: picture.bytes))
    }
}
