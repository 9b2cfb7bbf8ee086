import Foundation
import Hummingbird
import IoTCore
import Testing

@testable import iotvideod

/// draft-ietf-wish-whep over HTTP; Tests/InteropTests tests it with a browser.
@Suite struct WHEPTests {
    private let offer = "v=0\r\n"
    private let fragment = "a=ice-ufrag:abcd\r\na=candidate:1 1 UDP 1 192.0.2.1 5000 typ host\r\n"

    private func ask(
        _ fixture: RouterFixture, _ method: String, _ path: String, body: String?, type: String?,
        headers: [String: String] = [:]
    ) async throws -> RouterFixture.Answer {
        try await fixture.ask(
            method, path, token: RouterFixture.member, body: body, type: type,
            headers: ["Host": "127.0.0.1"].merging(headers) { $1 })
    }

    @Test("The response to an offer contains the answer, the call's URL and the ICE servers")
    func created() async throws {
        let fixture = RouterFixture()
        let answer = try await ask(
            fixture, "POST", "/v1/devices/door/whep", body: offer, type: "Application/SDP; charset=utf-8")
        #expect(answer.status == 201)
        #expect(answer.body == "v=0\r\n")
        #expect(answer.headers[.contentType] == "application/sdp")
        #expect(answer.headers[.location] == "/v1/whep/00ff")
        #expect(answer.headers[.eTag] == "\"1\"")
        #expect(answer.headers[HTTPFields.Key("Accept-Patch")!] == "application/trickle-ice-sdpfrag")
        #expect(
            answer.headers[values: HTTPFields.Key("Link")!] == [
                #"<stun:192.0.2.1:3478>; rel="ice-server""#,
                #"<turn:192.0.2.1?transport=udp>; rel="ice-server"; username="1:a"; credential="b+/="; "#
                    + #"credential-type="password""#,
            ])
    }

    @Test("A body that is not SDP is 415; an offer that the camera cannot serve gets the reason")
    func refused() async throws {
        let fixture = RouterFixture()
        for type in [nil, "application/json", "text/plain"] {
            let answer = try await ask(fixture, "POST", "/v1/devices/door/whep", body: offer, type: type)
            #expect(answer.status == 415 && answer.code == 25001, "\(type ?? "no type")")
        }
        #expect(fixture.gateway.calls.isEmpty)
        let statuses: [(ErrorCode, Int)] = [
            (.codecUnsupported, 422), (.sessionDescriptionInvalid, 400), (.allChannelsBusy, 429),
            (.relationInvalid, 403), (.targetNotFound, 404), (.deviceOffline, 503), (.cameraOff, 409),
        ]
        for (code, status) in statuses {
            let gateway = ScriptedGateway(grants: RouterFixture.grants) { _ in IoTError(code, "because") }
            let answer = try await ask(
                RouterFixture(gateway), "POST", "/v1/devices/door/whep", body: offer, type: "application/sdp")
            #expect(answer.status == status && answer.code == code.rawValue)
            #expect(answer.body.contains("because"))
        }
    }

    @Test("Every offer that is too large is 413")
    func tooLarge() async throws {
        let fixture = RouterFixture()
        for size in [70_000, 300_000] {
            let answer = try await ask(
                fixture, "POST", "/v1/devices/door/whep", body: String(repeating: "a", count: size),
                type: "application/sdp")
            #expect(answer.status == 413 && answer.code == 25013)
        }
        #expect(fixture.gateway.calls.isEmpty)
    }

    @Test("OPTIONS returns the ICE servers to callers that may view the device, and to no others")
    func iceServersBeforehand() async throws {
        let fixture = RouterFixture()
        let known = try await ask(fixture, "OPTIONS", "/v1/devices/door/whep", body: nil, type: nil)
        #expect(known.status == 204)
        #expect(known.headers[HTTPFields.Key("Link")!] == #"<stun:192.0.2.1:3478>; rel="ice-server""#)
        #expect(known.headers[HTTPFields.Key("Accept-Post")!] == "application/sdp")
        let stranger = try await fixture.ask("OPTIONS", "/v1/devices/door/whep")
        #expect(stranger.status == 204 && stranger.headers[HTTPFields.Key("Link")!] == nil)
        #expect(try await fixture.ask("OPTIONS", "/v1/devices/door/whep", token: "a.b.c").status == 401)
        #expect(fixture.gateway.calls.map(\.name) == ["iceServers"])
    }

    @Test("Candidates need the call's ETag, and ICE cannot be restarted")
    func trickle() async throws {
        let fixture = RouterFixture()
        func patch(_ condition: String?, body: String? = nil, type: String = APIRoutes.trickle) async throws -> Int {
            try await ask(
                fixture, "PATCH", "/v1/whep/00ff", body: body ?? fragment, type: type,
                headers: condition.map { ["If-Match": $0] } ?? [:]
            ).status
        }
        #expect(try await patch("\"1\"") == 204)
        #expect(try await patch("\"0\", \"1\"") == 204)
        #expect(fixture.gateway.calls.map(\.name) == ["trickle", "trickle"])
        #expect(try await patch(nil) == 428)
        #expect(try await patch("\"2\"") == 412)
        #expect(try await patch("*") == 422)
        #expect(try await patch("\"1\"", type: "application/sdp") == 415)
        #expect(try await patch("\"1\"", body: "nonsense") == 400)
        #expect(fixture.gateway.calls.count == 2)
    }

    @Test("A page of an allowed origin gets the CORS fields for WHEP")
    func crossOrigin() async throws {
        let fixture = RouterFixture(access: APIAccess(allowedOrigins: ["https://house.example"]))
        let origin = ["Origin": "https://house.example"]
        let preflight = try await fixture.ask(
            "OPTIONS", "/v1/whep/00ff",
            headers: ["Host": "127.0.0.1", "Access-Control-Request-Method": "PATCH"].merging(origin) { $1 })
        #expect(preflight.status == 204)
        #expect(preflight.headers[.accessControlAllowMethods]?.contains("PATCH") == true)
        #expect(preflight.headers[.accessControlAllowHeaders]?.contains("If-Match") == true)
        let answer = try await ask(
            fixture, "POST", "/v1/devices/door/whep", body: offer, type: "application/sdp", headers: origin)
        let exposed = try #require(answer.headers[.accessControlExposeHeaders])
        for name in ["Location", "ETag", "Link"] { #expect(exposed.contains(name)) }
        let options = try await fixture.ask("OPTIONS", "/v1/devices/door/whep")
        #expect(options.status == 204)
        #expect(options.headers[HTTPFields.Key("Accept-Post")!] == "application/sdp")
    }

    @Test("The page is the one of the documentation, runs only its own script, and reveals nothing about devices")
    func page() async throws {
        let file = try String(contentsOf: Repository.file("docs/examples/watch.html"), encoding: .utf8)
        #expect(WatchPage.html == file)
        let fixture = RouterFixture()
        let answer = try await fixture.ask("GET", "/watch/door")
        #expect(answer.status == 200 && answer.headers[.contentType] == "text/html; charset=utf-8")
        let policy = try #require(answer.headers[.contentSecurityPolicy])
        let nonce = try #require(policy.firstMatch(of: #/script-src 'nonce-([0-9a-f]{32})'/#)).output.1
        for tag in ["script", "style"] {
            #expect(answer.body.contains("<\(tag) nonce=\"\(nonce)\">"))
            #expect(answer.body.ranges(of: "<\(tag)").count == 1)
        }
        #expect(answer.body.contains("<body data-served>"), "the page knows that the gateway served it")
        #expect(!policy.contains("unsafe") && policy.contains("default-src 'none'"))
        for path in ["/watch/nonsense", "/"] {
            let again = try await fixture.ask("GET", path)
            #expect(
                again.body.replacing(#/nonce="[0-9a-f]*"/#, with: "")
                    == answer.body.replacing(#/nonce="[0-9a-f]*"/#, with: ""))
            #expect(again.body != answer.body, "the nonce differs each time")
        }
        #expect(fixture.gateway.calls.isEmpty)
        #expect(try await fixture.ask("GET", "/v1/status").headers[.contentSecurityPolicy]?.contains("script") == false)
    }

    @Test("A fragment's candidates are read whatever surrounds them, and malformed fragments are refused")
    func fragments() throws {
        let text =
            "a=ice-ufrag:abcd\r\na=ice-pwd:x\nm=audio 9 UDP/TLS/RTP/SAVPF 0\na=mid:0\r\n"
            + "a=candidate:1 1 UDP 1 192.0.2.1 5000 typ host\r\na=end-of-candidates\r\n"
        let fragment = try TrickleFragment(parsing: text)
        #expect(fragment.iceUfrag == "abcd")
        #expect(fragment.candidates == ["candidate:1 1 UDP 1 192.0.2.1 5000 typ host", ""])
        #expect(try TrickleFragment(parsing: "").candidates == [])
        let wrong = [
            "x", "a=candidate:1\u{0}", "a=ice-ufrag:a\na=ice-ufrag:b",
            String(repeating: "a=candidate:1\n", count: 65), String(repeating: "a=x\n", count: 20_000),
        ]
        for text in wrong { #expect(throws: IoTError.self) { try TrickleFragment(parsing: text) } }
    }
}
