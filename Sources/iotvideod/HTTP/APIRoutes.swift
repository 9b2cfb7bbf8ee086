import Gateway
import GatewayAPI
import Hummingbird
import IoTCore
import NIOCore

/// Version 1 of the API. `docs/openapi.yaml` describes it, and `RouteRights` defines who may call what.
enum APIRoutes {
    static var all: [APIRoute] {
        general + daemon + cameras + discovery + users + tokens + provisioning + keys + notices + bindings
            + devices + properties + messages
            + events
            + channels + data + media + recordings + storage + firmware + whep
    }

    private static var general: [APIRoute] {
        [
            APIRoute(open: "/healthz") { _, _ in try Response(json: HealthResponse()) },
            APIRoute(open: "/readyz") { _, service in
                let answer = ReadyResponse(reasons: await service.obstacles())
                return try Response(json: answer, status: answer.ready ? .ok : .serviceUnavailable)
            },
            APIRoute(open: "/openapi.yaml") { request, _ in APIDocument.response(to: request.request) },
            APIRoute(.get, "/metrics") { request, gateway in
                let text = PrometheusText.write(
                    ProcessMetrics.samples() + (try await gateway.daemon.metrics()) + MetricsRegistry.shared.samples())
                return Response(
                    status: .ok,
                    headers: [.contentType: PrometheusText.contentType, .contentLength: String(text.utf8.count)],
                    body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
            },
            APIRoute(.get, "/v1/status") { _, gateway in try Response(json: try await gateway.daemon.status()) },
        ]
    }

    private static var daemon: [APIRoute] {
        [
            APIRoute(.post, "/v1/link/register") { _, gateway in
                try Response(json: try await gateway.daemon.register())
            },
            APIRoute(.post, "/v1/link/unregister") { _, gateway in
                try Response(json: try await gateway.daemon.unregister())
            },
            APIRoute(list: "/v1/cameras") { _, page, gateway in
                try Response(json: CameraList(Page(of: try await gateway.cameras.list(), page, by: \.name)))
            },
            APIRoute(.post, "/v1/cameras", makes: true) { request, gateway in
                let body = try await request.decode(CameraRequest.self)
                if let username = body.username { try checkUsername(username) }
                return try Response(json: try await gateway.cameras.add(body), status: .created)
            },
            APIRoute(.delete, "/v1/cameras/{name}") { request, gateway in
                try await gateway.cameras.remove(request.parameter("name"))
                return try Response(json: EmptyResponse())
            },
            APIRoute(
                .get, "/v1/logs", query: ["level", "channel", "follow"], answersHead: false, isTimed: false
            ) { request, gateway in
                let query = try logQuery(request)
                return Response(try await gateway.daemon.logs(query), to: request)
            },
            APIRoute(.post, "/v1/configuration/reload") { _, gateway in
                do {
                    return try Response(json: try await gateway.daemon.reload())
                } catch let error as IoTError where error.code == .invalidConfiguration {
                    // The request is well formed, but the configuration that it loads is invalid.
                    throw APIFailure(error, status: .unprocessableContent)
                }
            },
        ]
    }

    private static func logQuery(_ request: APIRequest) throws(IoTError) -> LogQuery {
        let level = request.query("level")
        guard level.map(LogLine.levels.contains) ?? true else {
            throw IoTError(.invalidRequest, "level must be one of \(LogLine.levels.joined(separator: ", "))")
        }
        let channel = try request.query("channel").map { text throws(IoTError) in
            guard let channel = LogChannel(text) else {
                throw IoTError(
                    .invalidRequest, "channel must be the number or the id of a channel, or the id of a call")
            }
            return channel
        }
        switch request.query("follow") {
        case nil, "true": return LogQuery(level: level, channel: channel)
        case "false": return LogQuery(level: level, channel: channel, follows: false)
        default: throw IoTError(.invalidRequest, "follow must be true or false")
        }
    }
}
