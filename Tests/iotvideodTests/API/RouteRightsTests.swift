import Foundation
import GatewayAPI
import Hummingbird
import IoTCore
import Testing

@testable import Gateway
@testable import iotvideod

/// Which tokens may call which route over TCP. The hub checks the account's own rights.
@Suite struct RouteRightsTests {
    /// A well-formed request for each route.
    static let requests: [(route: String, path: String, body: String?)] = [
        ("GET /metrics", "/metrics", nil),
        ("GET /v1/status", "/v1/status", nil),
        ("GET /v1/events", "/v1/events", nil),
        ("POST /v1/link/register", "/v1/link/register", nil),
        ("POST /v1/link/unregister", "/v1/link/unregister", nil),
        ("GET /v1/cameras", "/v1/cameras", nil),
        ("POST /v1/cameras", "/v1/cameras", #"{"name":"a","url":"/a"}"#),
        ("GET /v1/cameras/{name}", "/v1/cameras/a", nil),
        ("PATCH /v1/cameras/{name}", "/v1/cameras/a", #"{"viewers":4}"#),
        ("DELETE /v1/cameras/{name}", "/v1/cameras/a", nil),
        ("POST /v1/cameras/{name}/detections", "/v1/cameras/a/detections", #"{"type":"motion"}"#),
        ("POST /v1/cameras/{name}/call", "/v1/cameras/a/call", #"{"answer":"accept"}"#),
        ("POST /v1/cameras/{name}/key", "/v1/cameras/a/key", nil),
        ("GET /v1/cameras/{name}/data", "/v1/cameras/a/data", nil),
        ("POST /v1/cameras/{name}/data", "/v1/cameras/a/data", #"{"text":"a"}"#),
        ("POST /v1/camera-tests", "/v1/camera-tests", #"{"url":"/a"}"#),
        ("POST /v1/discoveries", "/v1/discoveries", #"{"timeoutMilliseconds":1000}"#),
        ("POST /v1/onvif-queries", "/v1/onvif-queries", #"{"url":"http://192.0.2.9/onvif/device_service"}"#),
        ("POST /v1/configuration/reload", "/v1/configuration/reload", nil),
        ("GET /v1/logs", "/v1/logs?level=info&channel=1&follow=false", nil),
        ("GET /v1/users", "/v1/users", nil),
        ("POST /v1/users", "/v1/users", #"{"accessId":"a"}"#),
        ("POST /v1/users/temporary", "/v1/users/temporary", #"{"device":"d","ttlSeconds":60}"#),
        ("DELETE /v1/users/{user}", "/v1/users/a", nil),
        ("GET /v1/tokens", "/v1/tokens", nil),
        ("POST /v1/tokens", "/v1/tokens", #"{"kind":"api","ttlSeconds":60}"#),
        ("DELETE /v1/tokens/{id}", "/v1/tokens/a", nil),
        ("POST /v1/net/tokens", "/v1/net/tokens", "{}"),
        ("GET /v1/net/tokens/{id}", "/v1/net/tokens/enrol-0123456789", nil),
        ("GET /v1/keys", "/v1/keys", nil),
        ("POST /v1/keys", "/v1/keys", #"{"name":"tv","ttlSeconds":60}"#),
        ("DELETE /v1/keys/{id}", "/v1/keys/a", nil),
        ("GET /v1/notices", "/v1/notices", nil),
        ("PUT /v1/notices", "/v1/notices", #"{"url":"https://receiver.example/"}"#),
        ("DELETE /v1/notices", "/v1/notices", nil),
        ("GET /v1/firmware/releases", "/v1/firmware/releases", nil),
        ("POST /v1/firmware/releases", "/v1/firmware/releases", #"{"manifest":"{}","signature":"AA=="}"#),
        ("GET /v1/firmware/releases/{id}", "/v1/firmware/releases/1", nil),
        ("DELETE /v1/firmware/releases/{id}", "/v1/firmware/releases/1", nil),
        ("PUT /v1/firmware/releases/{id}/file", "/v1/firmware/releases/1/file", "0123456789"),
        ("GET /v1/firmware/releases/{id}/file", "/v1/firmware/releases/1/file", nil),
        ("GET /v1/devices/{device}/firmware", "/v1/devices/d/firmware?currentVersion=0.1.0&language=de", nil),
        ("GET /v1/devices", "/v1/devices", nil),
        ("POST /v1/devices", "/v1/devices", #"{"name":"d"}"#),
        ("GET /v1/devices/{device}", "/v1/devices/d", nil),
        ("PATCH /v1/devices/{device}", "/v1/devices/d", #"{"name":"e"}"#),
        ("DELETE /v1/devices/{device}", "/v1/devices/d", nil),
        ("GET /v1/devices/{device}/export", "/v1/devices/d/export", nil),
        (
            "PUT /v1/devices/{device}/key", "/v1/devices/d/key",
            #"{"fingerprint":"SHA256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8","source":"ap"}"#
        ),
        ("DELETE /v1/devices/{device}/key", "/v1/devices/d/key", nil),
        ("POST /v1/devices/{device}/lan-password", "/v1/devices/d/lan-password", #"{"password":"guess"}"#),
        ("GET /v1/devices/{device}/snapshot", "/v1/devices/d/snapshot?size=640", nil),
        ("GET /v1/devices/{device}/bindings", "/v1/devices/d/bindings", nil),
        ("POST /v1/devices/{device}/share", "/v1/devices/d/share", "{}"),
        ("POST /v1/subscriptions", "/v1/subscriptions", #"{"token":"a.b.c"}"#),
        ("PUT /v1/devices/{device}/bindings/{user}", "/v1/devices/d/bindings/a", "{}"),
        ("DELETE /v1/devices/{device}/bindings/{user}", "/v1/devices/d/bindings/a", nil),
        ("GET /v1/properties", "/v1/properties?path=ProConst&device=a,b&device=c", nil),
        ("GET /v1/devices/{device}/properties", "/v1/devices/d/properties", nil),
        ("PUT /v1/devices/{device}/properties", "/v1/devices/d/properties?path=ProWritable.a.setVal", "1"),
        ("GET /v1/devices/{device}/properties/watch", "/v1/devices/d/properties/watch", nil),
        ("POST /v1/devices/{device}/user-properties/{name}", "/v1/devices/d/user-properties/a", "1"),
        ("PUT /v1/devices/{device}/user-properties/{name}", "/v1/devices/d/user-properties/a", "1"),
        ("DELETE /v1/devices/{device}/user-properties/{name}", "/v1/devices/d/user-properties/a", nil),
        ("POST /v1/devices/{device}/actions", "/v1/devices/d/actions", #"{"path":"Action.a","value":null}"#),
        ("POST /v1/devices/{device}/messages", "/v1/devices/d/messages", #"{"text":"a"}"#),
        ("POST /v1/server-messages", "/v1/server-messages", #"{"path":"GET/time"}"#),
        ("GET /v1/device-events", "/v1/device-events", nil),
        ("DELETE /v1/device-events", "/v1/device-events", #"{"ids":["1"]}"#),
        ("GET /v1/devices/{device}/recordings", "/v1/devices/d/recordings?from=1&order=descending", nil),
        ("DELETE /v1/devices/{device}/recordings", "/v1/devices/d/recordings", #"{"from":1,"to":2}"#),
        ("GET /v1/devices/{device}/recordings/ranges", "/v1/devices/d/recordings/ranges?limit=3200", nil),
        ("GET /v1/devices/{device}/recordings/days", "/v1/devices/d/recordings/days?zone=Europe/Berlin", nil),
        ("GET /v1/devices/{device}/recordings/kept", "/v1/devices/d/recordings/kept", nil),
        ("POST /v1/devices/{device}/recordings/kept", "/v1/devices/d/recordings/kept", #"{"from":1,"to":2}"#),
        ("DELETE /v1/devices/{device}/recordings/kept/{id}", "/v1/devices/d/recordings/kept/1", nil),
        ("GET /v1/devices/{device}/recordings/{id}/video.mp4", "/v1/devices/d/recordings/1/video.mp4", nil),
        ("GET /v1/devices/{device}/recordings/{id}/init.mp4", "/v1/devices/d/recordings/1/init.mp4", nil),
        (
            "GET /v1/devices/{device}/recordings/{id}/media.m4s",
            "/v1/devices/d/recordings/1/media.m4s?first=0&count=4", nil
        ),
        ("GET /v1/devices/{device}/recordings/clip.mp4", "/v1/devices/d/recordings/clip.mp4?from=1&to=2", nil),
        ("GET /v1/devices/{device}/recordings/thumbnail", "/v1/devices/d/recordings/thumbnail?at=5&size=640", nil),
        (
            "GET /v1/devices/{device}/recordings/thumbnails",
            "/v1/devices/d/recordings/thumbnails?from=5&to=9000&every=1000&size=64", nil
        ),
        ("GET /v1/devices/{device}/recordings/playlist.m3u8", "/v1/devices/d/recordings/playlist.m3u8?from=1", nil),
        ("GET /v1/devices/{device}/storage", "/v1/devices/d/storage?channel=0", nil),
        ("GET /v1/devices/{device}/storage/days", "/v1/devices/d/storage/days?timezone=28800", nil),
        ("GET /v1/devices/{device}/storage/playlist", "/v1/devices/d/storage/playlist?startTime=1&endTime=2", nil),
        (
            "GET /v1/devices/{device}/storage/events",
            "/v1/devices/d/storage/events?startTime=1&endTime=0&pageSize=50&typeMasks=1,2&validCloudStorage=true", nil
        ),
        ("GET /v1/devices/{device}/storage/m3u8", "/v1/devices/d/storage/m3u8?startTime=1&endTime=0", nil),
        ("GET /v1/recordings/check", "/v1/recordings/check?thorough=true", nil),
        ("GET /v1/channels", "/v1/channels", nil),
        ("POST /v1/channels", "/v1/channels", #"{"device":"d"}"#),
        ("GET /v1/channels/{id}", "/v1/channels/1", nil),
        ("PATCH /v1/channels/{id}", "/v1/channels/1", #"{"definition":"low"}"#),
        ("DELETE /v1/channels/{id}", "/v1/channels/1", nil),
        ("POST /v1/channels/{id}/play", "/v1/channels/1/play", nil),
        ("PATCH /v1/channels/{id}/playback", "/v1/channels/1/playback", #"{"paused":true}"#),
        ("POST /v1/channels/{id}/playback/step", "/v1/channels/1/playback/step", nil),
        ("POST /v1/channels/{id}/talk", "/v1/channels/1/talk", "RIFF"),
        ("DELETE /v1/channels/{id}/talk", "/v1/channels/1/talk", nil),
        ("POST /v1/channels/{id}/data", "/v1/channels/1/data", #"{"text":"a"}"#),
        ("POST /v1/channels/{id}/data/stream", "/v1/channels/1/data/stream", #"{"text":"a"}"#),
        ("GET /v1/channels/{id}/data", "/v1/channels/1/data", nil),
        ("GET /v1/channels/{id}/events", "/v1/channels/1/events", nil),
        ("GET /v1/channels/{id}/snapshot", "/v1/channels/1/snapshot", nil),
        ("GET /v1/channels/{id}/recording.mp4", "/v1/channels/1/recording.mp4", nil),
        ("GET /v1/channels/{id}/video.y4m", "/v1/channels/1/video.y4m", nil),
        ("GET /v1/channels/{id}/audio.wav", "/v1/channels/1/audio.wav", nil),
        ("GET /v1/channels/{id}/dump", "/v1/channels/1/dump?part=receivedVideo", nil),
        ("GET /v1/resources/{token}", "/v1/resources/a", nil),
        ("POST /v1/devices/{device}/whep", "/v1/devices/d/whep", "v=0\r\n"),
        ("PATCH /v1/whep/{id}", "/v1/whep/1", "a=ice-ufrag:a\r\n"),
        ("DELETE /v1/whep/{id}", "/v1/whep/1", nil),
    ]

    /// The content type; some bodies are not JSON.
    static func type(_ route: String) -> String {
        switch route {
        case "POST /v1/devices/{device}/whep": APIRoutes.sdp
        case "PATCH /v1/whep/{id}": APIRoutes.trickle
        case "PUT /v1/firmware/releases/{id}/file": "application/octet-stream"
        default: "application/json"
        }
    }

    static let conditions = ["PATCH /v1/whep/{id}": ["If-Match": "\"1\""]]

    @Test("The table of rights contains exactly the existing routes")
    func tableIsComplete() {
        let routes = Set(APIRoutes.all.map { "\($0.method.rawValue) \($0.path)" })
        #expect(routes == Set(RouteRights.table.keys))
        let open: Set = [
            "GET /healthz", "GET /readyz", "GET /openapi.yaml", "GET /", "GET /watch/{device}",
            "OPTIONS /v1/devices/{device}/whep", "OPTIONS /v1/whep/{id}",
        ]
        #expect(Set(Self.requests.map(\.route)).union(open) == routes)
        #expect(Set(RouteRights.table.filter { $0.value == .anyone }.keys) == open)
        #expect(RouteRights.right("GET", "/v1/forgotten") == .administrator)
    }

    @Test("Without a token every route but the open ones is 401, even over TCP from this machine")
    func localhostIsNotTrusted() async throws {
        let fixture = RouterFixture()
        for request in Self.requests {
            let method = String(request.route.prefix { $0 != " " })
            let answer = try await fixture.ask(method, request.path, body: request.body, type: Self.type(request.route))
            #expect(answer.status == 401, "\(request.route)")
            #expect(answer.code == 25004)
            #expect(answer.headers[.wwwAuthenticate]?.hasPrefix("Bearer") == true)
            let wrong = try await fixture.ask(method, request.path, token: "not.a.token", body: request.body)
            #expect(wrong.status == 401, "\(request.route)")
        }
        #expect(fixture.gateway.calls.isEmpty)
        #expect(try await fixture.ask("GET", "/healthz").status == 200)
        #expect(try await fixture.ask("GET", "/readyz").status == 200)
    }

    @Test("Each route with each kind of token: forbidden requests do not reach the gateway")
    func everyRouteAgainstEveryToken() async throws {
        let tokens = [
            RouterFixture.administrator, RouterFixture.member, RouterFixture.limited,
            RouterFixture.limitedAdministrator,
        ]
        for token in tokens {
            let caller = try #require(RouterFixture.caller(of: token))
            for request in Self.requests {
                let right = try #require(RouteRights.table[request.route])
                let isAllowed =
                    switch right {
                    case .anyone, .account: true
                    case .action(let action): caller.scope.includes(action)
                    case .channel: caller.scope.includes(.view)
                    case .channelAction(let action): caller.scope.includes(action)
                    case .owner: caller.scope.actions == nil
                    case .wholeAccount: caller.scope.isAll
                    case .administrator: token == RouterFixture.administrator
                    }
                // These routes watch their connection, so APIServerTests and CameraStateTests test them.
                let isWatching = ["/snapshot", "/camera-tests", "/discoveries", "/onvif-queries"]
                    .contains { request.route.hasSuffix($0) }
                if isAllowed, isWatching { continue }
                let fixture = RouterFixture()
                let answer = try await fixture.ask(
                    String(request.route.prefix { $0 != " " }), request.path, token: token, body: request.body,
                    type: Self.type(request.route),
                    headers: ["Host": "127.0.0.1"].merging(Self.conditions[request.route] ?? [:]) { $1 })
                if isAllowed {
                    #expect(fixture.gateway.calls.map(\.caller) == [caller], "\(request.route) \(answer.body)")
                    #expect(answer.status != 403, "\(request.route)")
                } else {
                    #expect(fixture.gateway.calls.isEmpty, "\(request.route) with \(token)")
                    #expect(answer.status == 403, "\(request.route) with \(token)")
                    #expect(answer.code == 25005)
                }
            }
        }
    }

    @Test("The body of a refused request is not read, so a refusal does not reveal other errors")
    func rightsComeFirst() async throws {
        let fixture = RouterFixture()
        let answer = try await fixture.ask("POST", "/v1/users?x=1", token: RouterFixture.member, body: "nonsense")
        #expect(answer.status == 403)
    }
}
