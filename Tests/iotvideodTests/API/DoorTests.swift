import GatewayAPI
import Hummingbird
import IoTCore
import Testing

@testable import iotvideod

@Suite struct DoorTests {
    private let token = RouterFixture.administrator

    @Test("A page of another site is refused with and without a token (cross-site requests)")
    func crossSite() async throws {
        let fixture = RouterFixture()
        for origin in ["https://evil.example", "null", "http://127.0.0.1:81", "https://127.0.0.1"] {
            let answer = try await fixture.ask(
                "POST", "/v1/configuration/reload", token: token, headers: ["Host": "127.0.0.1", "Origin": origin])
            #expect(answer.status == 403, "\(origin)")
            #expect(answer.code == 25005)
            #expect(answer.headers[.accessControlAllowOrigin] == nil)
            let preflight = try await fixture.ask(
                "OPTIONS", "/v1/status",
                headers: ["Host": "127.0.0.1", "Origin": origin, "Access-Control-Request-Method": "GET"])
            #expect(preflight.status == 403)
        }
        #expect(fixture.gateway.calls.isEmpty)
        let own = try await fixture.ask(
            "GET", "/v1/status", token: token, headers: ["Host": "127.0.0.1:80", "Origin": "http://127.0.0.1:80"])
        #expect(own.status == 200)
    }

    @Test("A form of another site is not accepted as JSON")
    func simpleRequestsAreNotJSON() async throws {
        let fixture = RouterFixture()
        for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
            let answer = try await fixture.ask(
                "POST", "/v1/users", token: token, body: #"{"accessId":"a"}"#, type: type)
            #expect(answer.status == 415, "\(type)")
        }
        #expect(fixture.gateway.calls.isEmpty)
        let json = try await fixture.ask(
            "POST", "/v1/users", token: token, body: #"{"accessId":"a"}"#, type: "application/json; charset=utf-8")
        #expect(json.status == 201)
    }

    @Test("An allowed page gets the fields that it needs, and its preflight gets a response")
    func allowedOrigin() async throws {
        let fixture = RouterFixture(access: APIAccess(allowedOrigins: ["https://house.example"]))
        let headers = ["Host": "127.0.0.1", "Origin": "https://house.example"]
        let answer = try await fixture.ask("GET", "/v1/status", token: token, headers: headers)
        #expect(answer.status == 200)
        #expect(answer.headers[.accessControlAllowOrigin] == "https://house.example")
        #expect(answer.headers[.vary] == "Origin")
        let preflight = try await fixture.ask(
            "OPTIONS", "/v1/status", headers: headers.merging(["Access-Control-Request-Method": "GET"]) { $1 })
        #expect(preflight.status == 204)
        #expect(preflight.headers[.accessControlAllowHeaders]?.contains("Authorization") == true)
    }

    @Test(
        "A foreign host name is refused (DNS rebinding)",
        arguments: [
            ("127.0.0.1", true), ("192.0.2.7:8443", true), ("[::1]:80", true), ("[2001:db8::1]", true),
            ("localhost", true), ("LOCALHOST:1", true), ("cams.house.example", true), ("CAMS.house.example:443", true),
            ("evil.example", false), ("localhost.evil.example", false), ("127.0.0.1.evil.example", false),
            ("127.0.0.1:x", false), ("[::1", false), ("", false), ("127.0.0.1:99999", false),
        ])
    func hostNames(host: String, isAllowed: Bool) throws {
        let access = APIAccess(names: ["cams.house.example"])
        if isAllowed {
            #expect(throws: Never.self) { try access.checkHost(host) }
        } else {
            #expect(throws: IoTError.self, "\(host)") { try access.checkHost(host) }
        }
        #expect(throws: IoTError.self) { try access.checkHost(nil) }
    }

    @Test("Every response has the security fields, including errors")
    func securityFields() async throws {
        let fixture = RouterFixture()
        for path in ["/healthz", "/v1/status", "/nowhere"] {
            let answer = try await fixture.ask("GET", path)
            #expect(answer.headers[.xContentTypeOptions] == "nosniff", "\(path)")
            #expect(answer.headers[.contentSecurityPolicy]?.contains("frame-ancestors 'none'") == true)
            #expect(answer.headers[.cacheControl] == "no-store")
        }
    }
}

@Suite struct UnknownMethodTests {
    @Test("A known path refuses all other methods with 405 and Allow")
    func methods() async throws {
        let fixture = RouterFixture()
        for (method, path, allow) in [
            ("QUERY", "/v1/users", "GET, HEAD, POST"), ("TRACE", "/v1/users/a", "DELETE"),
            ("PUT", "/healthz", "GET, HEAD"), ("HEAD", "/v1/events", "GET"), ("DELETE", "/v1/users/temporary", "POST"),
        ] {
            let answer = try await fixture.ask(method, path, token: RouterFixture.administrator)
            #expect(answer.status == 405, "\(method) \(path)")
            #expect(answer.headers[.allow] == allow)
            // RFC 9110 §9.3.2
            #expect(method == "HEAD" ? answer.body.isEmpty : answer.code == 25001)
        }
        #expect(try await fixture.ask("GET", "/v1/users/a/b").status == 404)
        #expect(fixture.gateway.calls.isEmpty)
    }
}
