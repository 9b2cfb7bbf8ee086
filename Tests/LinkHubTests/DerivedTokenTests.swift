import IoTCore
import IoTLink
import NIOCore
import Testing

@testable import LinkHub

@Suite("Credentials that are made with an API token")
struct DerivedTokenTests {
    /// An administrator's API token with a lifetime of a minute, and its id.
    private func online(
        _ scope: JSONValue = [:]
    ) throws -> (hub: CoreFixture, id: String) {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let time = hub.time
        try hub.core.ensureAdministrator(hub.owner.principal.accessID!, at: time)
        var params = scope
        params["ttlSeconds"] = 60
        let made = try hub.request(hub.owner, "token.createAPI", params)
        return (hub, try #require(made?.result["id"]?.stringValue))
    }

    private func make(_ hub: inout CoreFixture, _ method: String, _ params: JSONValue, _ id: String) throws -> LinkReply
    {
        var params = params
        params["within"] = .string(id)
        return try #require(try hub.request(hub.owner, method, params))
    }

    private let long: Int64 = 315_360_000

    @Test("Tokens, enrolments and the tokens exchanged for them expire with it, and end when it is revoked")
    func ends() throws {
        var (hub, id) = try online()
        let end = JSONValue.integer(hub.time.seconds + 60)
        let link = try make(&hub, "token.create", ["principal": "guest", "ttlSeconds": .integer(long)], id)
        let api = try make(&hub, "token.createAPI", ["ttlSeconds": .integer(long)], id)
        let apiID = try #require(api.result["id"]?.stringValue)
        let grandchild = try make(&hub, "token.create", ["ttlSeconds": .integer(long)], apiID)
        let open = try make(&hub, "token.enrol", ["ttlSeconds": 3_600], id)
        let used = try make(&hub, "token.enrol", ["user": "guest", "devices": ["front"], "ttlSeconds": 3_600], id)
        for reply in [link, api, grandchild, open, used] { #expect(reply.result["expires"] == end) }
        let box = LinkAddress.random(
            try #require(Principal(kind: .enrolment, id: used.result["id"]?.stringValue ?? "")))
        let exchanged = try #require(try hub.request(box, "enrol.exchange")?.result)
        #expect(exchanged["user"]?["expires"] == end)
        let device = exchanged["devices"]?.arrayValue?.first
        #expect(
            device?["expires"]?.integerValue.map { $0 > hub.time.seconds + 86_400 } == true, "the box's own device")
        let temporary = try make(&hub, "user.createTemporary", ["device": "front", "ttlSeconds": 604_800], id)
        #expect(temporary.result["expires"] == end)

        let made = [link, api, grandchild, open].compactMap { $0.result["id"]?.stringValue }
        #expect(made.allSatisfy { hub.core.state.tokens[$0] != nil || hub.core.state.enrolments[$0] != nil })
        #expect(try hub.request(hub.owner, "token.revoke", ["id": .string(id)])?.code == .success)
        #expect(made.allSatisfy { hub.core.state.tokens[$0] == nil && hub.core.state.enrolments[$0] == nil })
        #expect(hub.core.state.tokens.of(hub.guest.principal).isEmpty, "also what the enrolment was exchanged for")
        #expect(hub.core.state.tokens.of(hub.camera.principal).count == 1)
        #expect(try make(&hub, "token.create", ["ttlSeconds": 60], id).code == .unauthenticated)
    }

    @Test("A renewed token still ends with it")
    func renewed() throws {
        var (hub, id) = try online()
        _ = try make(&hub, "token.create", ["principal": "guest", "ttlSeconds": 60], id)
        hub.advance(.seconds(40))
        let renewed = try hub.request(hub.guest, "token.renew")
        #expect(renewed?.result["expires"] == .integer(hub.time.seconds + 20))
        hub.advance(.seconds(20))
        _ = hub.timeout()
        #expect(hub.core.state.tokens.of(hub.guest.principal).isEmpty)
    }

    @Test("A token for some devices or actions cannot make one that allows more")
    func scope() throws {
        var (hub, id) = try online(["devices": ["front"], "actions": ["view", "talk"]])
        let same = try make(&hub, "token.createAPI", ["ttlSeconds": 60], id)
        let record = hub.core.state.tokens[same.result["id"]?.stringValue ?? ""]
        #expect(record?.scope == TokenRecord.Scope(devices: [hub.front], actions: [.view, .talk]))
        let less = try make(&hub, "token.createAPI", ["ttlSeconds": 60, "actions": ["view"]], id)
        #expect(less.code == .success)
        let more = try make(&hub, "token.createAPI", ["ttlSeconds": 60, "actions": ["control"]], id)
        #expect(more.code == .forbidden)
        #expect(try make(&hub, "token.create", ["ttlSeconds": 60], id).code == .forbidden)
        #expect(try make(&hub, "token.enrol", [:], id).code == .forbidden)
    }

    @Test("Another account cannot use the token as parent, and a restart keeps what was made with which token")
    func stored() throws {
        var (hub, id) = try online()
        var params: JSONValue = ["ttlSeconds": 60]
        params["within"] = .string(id)
        #expect(try hub.request(hub.guest, "token.create", params)?.code == .unauthenticated)
        let child = try make(&hub, "token.create", ["ttlSeconds": 60], id)
        let enrolment = try make(&hub, "token.enrol", [:], id)
        let store = try SQLiteHubStore(path: nil)
        let stored = hub.stored
        let writable = stored.filter {
            switch $0 {
            case .addToken, .putEnrolment: true
            default: false
            }
        }
        try store.commit([writable])
        let state = try store.load()
        #expect(state.tokens[child.result["id"]?.stringValue ?? ""]?.parent == id)
        #expect(state.enrolments[enrolment.result["id"]?.stringValue ?? ""]?.parent == id)
        #expect(state.tokens.children(of: id).count == 1)
    }
}
