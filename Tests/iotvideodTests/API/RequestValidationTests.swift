import GatewayAPI
import IoTCore
import Testing

@testable import iotvideod

@Suite struct RequestValidationTests {
    private let fixture = RouterFixture()

    private func ask(_ method: String, _ path: String, _ body: String? = nil) async throws -> RouterFixture.Answer {
        try await fixture.ask(method, path, token: RouterFixture.administrator, body: body)
    }

    @Test(
        "An invalid request is refused with the name of the invalid part, and does not reach the gateway",
        arguments: [
            ("POST", "/v1/users", #"{"accessId":"a","knid":"member"}"#, "knid"),
            ("POST", "/v1/users", #"{"accessId":"A B"}"#, "accessId"),
            ("POST", "/v1/users", #"{"kind":"member"}"#, "accessId"),
            ("POST", "/v1/users", #"{"accessId":"a","kind":"temporary"}"#, "kind"),
            ("POST", "/v1/users", #"{"accessId":"a","kind":null}"#, "kind"),
            ("POST", "/v1/users", "[]", "object"),
            ("POST", "/v1/users", "", "empty"),
            ("POST", "/v1/users", "{", "JSON"),
            ("POST", "/v1/users/temporary", #"{"device":"d","ttlSeconds":59}"#, "ttlSeconds"),
            ("POST", "/v1/users/temporary", #"{"device":"d","ttlSeconds":60,"actions":[]}"#, "actions"),
            ("POST", "/v1/users/temporary", #"{"device":"d","ttlSeconds":60,"actions":["fly"]}"#, "actions"),
            ("POST", "/v1/tokens", #"{"kind":"api"}"#, "ttlSeconds"),
            ("POST", "/v1/tokens", #"{"kind":"link","ttlSeconds":1,"actions":["view"]}"#, "actions"),
            ("POST", "/v1/tokens", #"{"kind":"link","ttlSeconds":1,"devices":["a"]}"#, "devices"),
            ("POST", "/v1/tokens", #"{"kind":"enrolment","ttlSeconds":3601}"#, "ttlSeconds"),
            ("POST", "/v1/tokens", #"{"kind":"api","ttlSeconds":0}"#, "ttlSeconds"),
            ("PUT", "/v1/devices/d/bindings/a", #"{"role":"owner","actions":["view"]}"#, "actions"),
            ("PUT", "/v1/devices/d/bindings/A", "{}", "user"),
            ("POST", "/v1/devices", #"{"name":"a b"}"#, "name"),
            ("PATCH", "/v1/devices/d", #"{"name":"00112233445566778899aabbccddeeff"}"#, "name"),
            ("POST", "/v1/devices/d/messages", "{}", "data"),
            ("POST", "/v1/devices/d/messages", #"{"data":"AA==","text":"a"}"#, "data"),
            ("POST", "/v1/devices/d/messages", #"{"data":"A"}"#, "base64"),
            ("POST", "/v1/devices/d/messages", #"{"text":"a","responses":"two"}"#, "responses"),
            ("POST", "/v1/devices/d/messages", #"{"text":"a","timeoutMilliseconds":99}"#, "timeoutMilliseconds"),
            ("POST", "/v1/server-messages", #"{"path":""}"#, "path"),
            ("POST", "/v1/discoveries", #"{"timeoutMilliseconds":999}"#, "timeoutMilliseconds"),
            ("POST", "/v1/discoveries", #"{"timeoutMilliseconds":30001}"#, "timeoutMilliseconds"),
            ("POST", "/v1/onvif-queries", #"{"url":"http://192.0.2.9/","password":"x"}"#, "username"),
            ("POST", "/v1/onvif-queries", #"{"url":"file:///etc/passwd"}"#, "url"),
            ("POST", "/v1/onvif-queries", #"{"url":"http://192.0.2.9/","certificate":"any"}"#, "https"),
            ("POST", "/v1/onvif-queries", #"{"url":"https://h/","certificate":"00"}"#, "certificate"),
            ("DELETE", "/v1/device-events", "{}", "ids"),
            ("DELETE", "/v1/device-events", #"{"ids":["x"]}"#, "ids"),
            ("DELETE", "/v1/device-events", #"{"ids":["1"],"device":"d"}"#, "ids"),
            ("DELETE", "/v1/device-events", #"{"device":"d"}"#, "before"),
            ("GET", "/v1/device-events?limit=201", "", "limit"),
            ("GET", "/v1/properties?device=a,,b", "", "device"),
            ("GET", "/v1/device-events?topic=a%20b", "", "topic"),
            ("GET", "/v1/device-events?x=1", "", "x"),
            ("GET", "/v1/events?types=link,nonsense", "", "nonsense"),
            ("GET", "/v1/properties?device=", "", "device"),
            ("GET", "/v1/status?a=1", "", "a"),
            ("POST", "/v1/channels", #"{"device":"d","source":256}"#, "source"),
            ("POST", "/v1/channels", #"{"device":"d","definition":"best"}"#, "definition"),
            ("PATCH", "/v1/channels/1", #"{"definition":""}"#, "definition"),
            ("PATCH", "/v1/channels/1", "{}", "definition"),
            ("GET", "/v1/devices/" + String(repeating: "a", count: 257), "", "256"),
            ("GET", "/v1/devices/a" + String(repeating: "%CC%81", count: 31), "", "combining"),
            ("GET", "/v1/properties?path=ProUser.a" + String(repeating: "%CC%81", count: 31), "", "combining"),
        ])
    func wrong(method: String, path: String, body: String, names: String) async throws {
        let answer = try await ask(method, path, body)
        #expect(answer.status == 400, "\(answer.body)")
        #expect(answer.code == 25001)
        #expect(answer.body.contains(names), "\(answer.body)")
        #expect(fixture.gateway.calls.isEmpty)
    }

    @Test("A message may have 30,000 bytes; one more is 21008")
    func messageSize() async throws {
        let fits = String(repeating: "a", count: 30_000)
        #expect(try await ask("POST", "/v1/devices/d/messages", #"{"text":"\#(fits)"}"#).status == 200)
        let answer = try await ask("POST", "/v1/devices/d/messages", #"{"text":"\#(fits)a"}"#)
        #expect(answer.status == 413)
        #expect(answer.code == 21008)
    }

    @Test("A body of more than 256 KiB is 25013")
    func bodySize() async throws {
        let answer = try await ask("PUT", "/v1/devices/d/properties?path=a", String(repeating: "1", count: 262_145))
        #expect(answer.status == 413)
        #expect(answer.code == 25013)
    }

    @Test("Several devices are given as repeated items or separated by commas")
    func manyDevices() async throws {
        let answer = try await ask("GET", "/v1/properties?path=p&device=a,b&device=c")
        let list = try APICoding.decode(PropertyReadings.self, from: answer.body.utf8)
        #expect(list.readings.map(\.device) == ["a", "b", "c"])
    }

    @Test("An invalid new configuration is 422 with 25002")
    func reloadRefused() async throws {
        let gateway = ScriptedGateway(grants: RouterFixture.grants) { _ in
            IoTError(.invalidConfiguration, "line 3")
        }
        let answer = try await RouterFixture(gateway).ask(
            "POST", "/v1/configuration/reload", token: RouterFixture.administrator)
        #expect(answer.status == 422)
        #expect(answer.code == 25002)
    }

    @Test("readyz returns the reasons with 503")
    func notReady() async throws {
        fixture.gateway.set(obstacles: [IoTError(.linkUnavailable)])
        let answer = try await fixture.ask("GET", "/readyz")
        #expect(answer.status == 503)
        let ready = try APICoding.decode(ReadyResponse.self, from: answer.body.utf8)
        #expect(!ready.ready)
        #expect(ready.reasons.map(\.code) == [21025])
    }
}
