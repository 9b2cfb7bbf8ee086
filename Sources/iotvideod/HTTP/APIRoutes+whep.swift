import Gateway
import HTTPTypes
import Hummingbird
import IoTCore
import MediaChannel
import NIOCore
import PeerTransport

/// WHEP (draft-ietf-wish-whep): a browser watches a camera. Media flow directly between browser and camera.
extension APIRoutes {
    static let sdp = "application/sdp"
    static let trickle = "application/trickle-ice-sdpfrag"

    /// A call has one ICE session, which cannot be restarted.
    private static let entityTag = "\"1\""

    static var whep: [APIRoute] {
        [
            APIRoute(
                .post, "/v1/devices/{device}/whep", query: ["definition", "kind", "source"], makes: true
            ) { request, gateway in
                let offer = try await request.text(sdp, atMost: SessionDescription.maximumByteCount)
                do {
                    let wish = BrowserWish(
                        offer: offer, kind: try kind(request), source: try source(request),
                        definition: try request.definition)
                    return created(
                        try await gateway.calls.open(request.parameter("device"), wish), key: request.shownKey)
                } catch let error as IoTError where error.code == .sessionDescriptionInvalid {
                    // The client sent the invalid description, so this is not a failure of the device.
                    throw APIFailure(error, status: .badRequest)
                }
            },
            APIRoute(.patch, "/v1/whep/{id}") { request, gateway in
                let fragment = try TrickleFragment(
                    parsing: try await request.text(trickle, atMost: TrickleFragment.maximumSize))
                try checkCondition(request)
                try await gateway.calls.trickle(
                    request.parameter("id"), iceUfrag: fragment.iceUfrag, candidates: fragment.candidates)
                return Response(status: .noContent)
            },
            APIRoute(.delete, "/v1/whep/{id}") { request, gateway in
                try await gateway.calls.close(request.parameter("id"))
                return Response(status: .ok)
            },
            APIRoute(open: "/") { _, _ in WatchPage.response },
            APIRoute(open: "/watch/{device}") { _, _ in WatchPage.response },
            APIRoute(
                .options, either: "/v1/devices/{device}/whep",
                known: { request, gateway in
                    var response = options("OPTIONS, POST", HTTPFieldName.acceptPost, sdp)
                    addLinks(try await gateway.calls.iceServers(request.parameter("device")), to: &response.headers)
                    return response
                }
            ) { _, _ in
                options("OPTIONS, POST", HTTPFieldName.acceptPost, sdp)
            },
            APIRoute(.options, open: "/v1/whep/{id}") { _, _ in
                options("DELETE, OPTIONS, PATCH", HTTPFieldName.acceptPatch, trickle)
            },
        ]
    }

    private static func kind(_ request: APIRequest) throws(IoTError) -> ChannelKind {
        switch request.query("kind") {
        case nil, ChannelKind.monitor.name: return .monitor
        case ChannelKind.live.name: return .live
        case let other?: throw IoTError(.invalidRequest, "kind '\(other)' is unknown; known: monitor, live")
        }
    }

    private static func source(_ request: APIRequest) throws(IoTError) -> ChannelSource {
        guard let text = request.query("source") else { return .main }
        guard let source = ChannelSource(text) else {
            throw IoTError(.invalidRequest, "'source' " + ChannelSource.requirement)
        }
        return source
    }

    private static func options(_ allow: String, _ name: HTTPFields.Key?, _ type: String) -> Response {
        var response = Response(status: .noContent, headers: [.allow: allow])
        if let name { response.headers[name] = type }
        return response
    }

    /// - Parameter key: a media key from the request's URL. A client without headers also needs it for the call's URL.
    private static func created(_ answer: RelayedCalls.Answer, key: String?) -> Response {
        let body = ByteBuffer(string: answer.description)
        let query = key.map { "?\(APIRoute.key)=\($0)" } ?? ""
        var headers: HTTPFields = [
            .contentType: sdp, .contentLength: String(body.readableBytes), .location: "/v1/whep/\(answer.id)\(query)",
            .eTag: entityTag,
        ]
        if let name = HTTPFieldName.acceptPatch { headers[name] = trickle }
        if let name = HTTPFieldName.keySource { headers[name] = answer.keySource?.rawValue ?? "none" }
        addLinks(answer.iceServers, to: &headers)
        return Response(status: .created, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    /// Adds the ICE servers (RFC 9725 §4.6). Their URLs come with credentials, so only known callers get them.
    private static func addLinks(_ servers: [ICEServer], to headers: inout HTTPFields) {
        guard let name = HTTPFieldName.link else { return }
        for server in servers {
            for url in server.urls { headers.append(HTTPField(name: name, value: link(url, server))) }
        }
    }

    private static func link(_ url: String, _ server: ICEServer) -> String {
        var text = "<\(url)>; rel=\"ice-server\""
        if !server.username.isEmpty {
            text += "; username=\"\(server.username)\"; credential=\"\(server.credential)\""
            text += "; credential-type=\"password\""
        }
        return text
    }

    /// Checks If-Match, because candidates belong to one ICE session (RFC 9725 §4.3.1).
    private static func checkCondition(_ request: APIRequest) throws {
        guard let condition = request.request.headers[.ifMatch] else {
            throw APIFailure(
                IoTError(.invalidRequest, "If-Match must name the call's ETag"), status: .preconditionRequired)
        }
        guard let condition = ASCII.lowercased(condition) else {
            throw IoTError(.invalidRequest, "If-Match is malformed")
        }
        if condition == "*" {
            throw IoTError(.actionNotSupported, "a call's ICE cannot be restarted", remedy: "end it and call again")
        }
        let tags = condition.split(separator: ",").map { $0.filter { $0 != " " } }
        guard tags.contains(entityTag) else {
            throw APIFailure(
                IoTError(.invalidRequest, "If-Match does not name the call's ETag, which is \(entityTag)"),
                status: .preconditionFailed)
        }
    }
}
