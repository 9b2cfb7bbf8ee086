import Foundation
import GatewayAPI
import HTTPTypes
import IoTCore
import Logging
import NIOCore
import Synchronization
import Testing

@testable import Gateway
@testable import iotvideod

/// What a media key opens in the API, and where it must not appear.
@Suite struct MediaKeyTests {
    private let key = RouterFixture.key
    private let unknown = "0123456789BBBBBBBBBBBBBBBBBBBBBB"

    private func address(_ path: String, _ key: String) -> String {
        path + (path.contains("?") ? "&" : "?") + "key=" + key
    }

    private func ask(
        _ fixture: RouterFixture, _ request: (route: String, path: String, body: String?), key: String,
        inHeader: Bool = false
    ) async throws -> RouterFixture.Answer {
        try await fixture.ask(
            String(request.route.prefix { $0 != " " }), inHeader ? request.path : address(request.path, key),
            token: inHeader ? key : nil, body: request.body, type: RouteRightsTests.type(request.route),
            headers: ["Host": "127.0.0.1"].merging(RouteRightsTests.conditions[request.route] ?? [:]) { $1 })
    }

    @Test("A key only opens media and event streams, in the name of its account", arguments: [false, true])
    func everyRoute(inHeader: Bool) async throws {
        let caller = try #require(RouterFixture.caller(of: key))
        #expect(caller.credentials == .key("0123456789") && !caller.isAdministrator)
        #expect(RouteRights.openToKeys.isSubset(of: RouteRights.table.keys))
        for request in RouteRightsTests.requests {
            // A snapshot needs a real connection to watch.
            if request.route.hasSuffix("/snapshot") { continue }
            let fixture = RouterFixture()
            let answer = try await ask(fixture, request, key: key, inHeader: inHeader)
            if RouteRights.openToKeys.contains(request.route) {
                #expect(fixture.gateway.calls.map(\.caller) == [caller], "\(request.route) \(answer.body)")
                #expect(![400, 401, 403].contains(answer.status), "\(request.route) \(answer.body)")
            } else {
                #expect(fixture.gateway.calls.isEmpty, "\(request.route)")
                #expect(answer.status == 403 && answer.code == 25005, "\(request.route)")
                #expect(answer.body.contains("media key"), "\(answer.body)")
            }
            #expect(!answer.body.contains(key), "\(request.route)")
        }
    }

    @Test("Unknown and malformed keys open nothing")
    func unknownKeys() async throws {
        for key in [unknown, "", "x", RouterFixture.administrator] {
            for request in RouteRightsTests.requests {
                let fixture = RouterFixture()
                let answer = try await ask(fixture, request, key: key)
                #expect(fixture.gateway.calls.isEmpty && answer.status == 401, "\(request.route) \(answer.body)")
                #expect(answer.code == 25004)
                #expect(key.isEmpty || key == "x" || !answer.body.contains(key))
            }
        }
    }

    @Test("Open routes accept a key only where it has a meaning; the watch page is the same for all keys")
    func openRoutes() async throws {
        let fixture = RouterFixture()
        for path in ["/healthz", "/readyz", "/openapi.yaml", "/"] {
            #expect(try await fixture.ask("GET", address(path, key)).status == 403, "\(path)")
        }
        #expect(try await fixture.ask("GET", address("/watch/front", unknown)).status == 200)
        #expect(try await fixture.ask("OPTIONS", address("/v1/whep/1", unknown)).status == 204)
        // Only accounts that may view the device get the ICE servers.
        let link = HTTPFieldName.link!
        let known = try await fixture.ask("OPTIONS", address("/v1/devices/d/whep", key))
        #expect(known.status == 204 && known.headers[link] != nil)
        #expect(try await fixture.ask("OPTIONS", address("/v1/devices/d/whep", unknown)).status == 401)
    }

    @Test("The call's URL contains the key of a WHEP client without headers, but not with a token")
    func whep() async throws {
        let fixture = RouterFixture()
        func location(_ path: String, token: String? = nil) async throws -> String? {
            try await fixture.ask("POST", path, token: token, body: "v=0\r\n", type: APIRoutes.sdp).headers[.location]
        }
        let path = "/v1/devices/d/whep"
        #expect(try await location(address(path, key)) == "/v1/whep/00ff?key=\(key)")
        #expect(try await location(path, token: key) == "/v1/whep/00ff")
        #expect(try await location(path, token: RouterFixture.member) == "/v1/whep/00ff")
        // A token takes precedence over a key, which is then neither checked nor repeated.
        #expect(try await location(address(path, unknown), token: RouterFixture.member) == "/v1/whep/00ff")
        #expect(fixture.gateway.calls.last?.caller.credentials == .token("2"))
        #expect(try await fixture.ask("POST", address(path, key) + "&key=\(key)").status == 400)
    }

    @Test("No log contains a key: the audit log contains its id, and responses forbid referrers")
    func logs() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = RouterFixture(audit: AuditLog(directory: directory, logger: Logger(label: "test")))
            let watched = try await fixture.ask(
                "POST", address("/v1/devices/d/whep", key), body: "v=0\r\n", type: APIRoutes.sdp)
            #expect(watched.headers[HTTPFieldName.referrerPolicy!] == "no-referrer")
            for path in ["/v1/users", "/v1/status", "/healthz", "/nowhere"] {
                for key in [key, unknown] { _ = try await fixture.ask("GET", address(path, key)) }
            }
            // A key in place of its id.
            _ = try await fixture.ask("DELETE", "/v1/keys/\(key)", token: RouterFixture.administrator)
            let page = try await fixture.ask("GET", address("/watch/front", key))
            #expect(page.headers[HTTPFieldName.referrerPolicy!] == "no-referrer" && !page.body.contains(key))
            let names = ["/audit.log", "/audit-refused.log"]
            let logs = try names.map { try String(contentsOfFile: directory + $0, encoding: .utf8) }
            #expect(logs[0].contains(#""who":{"account":"guest","key":"0123456789"}"#))
            #expect(logs[1].contains(#""who":{"account":"guest","key":"0123456789"}"#))
            #expect(logs[0].contains(#""path":"/v1/keys/0123456789""#))
            for log in logs { for key in [key, unknown] { #expect(!log.contains(key.dropFirst(10))) } }
        }
    }

    @Test("On the Unix socket a URL with a key has the key's rights, not the owner's")
    func socket() async throws {
        let fixture = RouterFixture(listener: .unixSocket(path: "/nowhere"))
        #expect(try await fixture.ask("GET", address("/v1/users", key)).status == 403)
        #expect(try await fixture.ask("GET", address("/v1/resources/a", unknown)).status == 401)
        _ = try await fixture.ask("DELETE", address("/v1/whep/1", key))
        #expect(fixture.gateway.calls.map(\.caller.credentials) == [.key("0123456789")])
    }

    @Test("A media key of the owner has an ordinary account's share of resources, not the reserve")
    func holder() throws {
        let owner = AccessID(rawValue: "owner")!
        let shown = try #require(BearerToken(key.utf8))
        let caller = RouterFixture.grant("1", "owner", true, Caller.Scope(actions: [.view])).caller(showing: shown)
        #expect(caller.holder(owner: owner) == .account(owner))
    }
}
