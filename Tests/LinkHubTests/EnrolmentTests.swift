import IoTCore
import IoTLink
import NIOCore
import Testing

@testable import LinkHub

@Suite("Enrolment at the hub")
struct EnrolmentTests {
    /// The id and the secret of a string.
    private func parts(_ text: String?) throws -> (id: String, secret: String) {
        let query = try #require(text?.split(separator: "?").last?.split(separator: "&").first)
        let parts = query.dropFirst("enrol=".count).split(separator: ".")
        return (String(try #require(parts.first)), String(try #require(parts.last)))
    }

    private func enrol(
        _ hub: inout CoreFixture, _ params: JSONValue, as user: LinkAddress? = nil
    ) throws -> LinkAddress {
        let reply = try hub.request(user ?? hub.owner, "token.enrol", params)
        let (id, _) = try parts(reply?.result["enrolment"]?.stringValue)
        #expect(reply?.result["id"]?.stringValue == id)
        return .random(try #require(Principal(kind: .enrolment, id: id)))
    }

    private func online() throws -> CoreFixture {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let time = hub.time
        try hub.core.ensureAdministrator(hub.owner.principal.accessID!, at: time)
        return hub
    }

    @Test(
        "An administrator's string for a new name creates the device; another's, or a refused one, does not")
    func newDevice() throws {
        var hub = try online()
        let refused = try hub.request(hub.owner, "token.enrol", ["devices": ["yard", "not a name"]])
        #expect(refused?.code == .invalidRequest)
        #expect(hub.core.state.names["yard"] == nil)
        #expect(try hub.request(hub.guest, "token.enrol", ["devices": ["yard"]])?.code == .targetNotFound)
        let box = try enrol(&hub, ["devices": ["yard", "front", "yard"]])
        let yard = try #require(hub.core.state.names["yard"])
        #expect(hub.core.state.bindings[yard, hub.owner.principal.accessID!]?.role == .owner)
        let reply = try hub.request(box, "enrol.exchange")
        #expect(reply?.result["devices"]?.arrayValue?.count == 2)
    }

    @Test("A string for an account that does not exist is refused, and makes no device")
    func unknownAccount() throws {
        var hub = try online()
        for params: JSONValue in [["user": "gone"], ["user": "gone", "devices": ["yard"]]] {
            #expect(try hub.request(hub.owner, "token.enrol", params)?.code == .targetNotFound)
        }
        #expect(hub.core.state.names["yard"] == nil && hub.core.state.enrolments.isEmpty)
    }

    @Test("It gives tokens once: the same request gets a lost reply again for a minute, any other gets 21101")
    func once() throws {
        var hub = try online()
        let box = try enrol(&hub, ["user": "guest", "devices": ["front", "back"]])
        let first = try #require(try hub.request(box, "enrol.exchange", id: "x", deadline: 0))
        #expect(first.code == .success, "even if the box's clock is wrong")
        #expect(first.result["hub"] == [:])
        for (token, principal) in [
            (first.result["user"]?["token"], hub.guest.principal),
            (first.result["devices"]?.arrayValue?[0]["token"], hub.camera.principal),
            (first.result["devices"]?.arrayValue?[1]["token"], .device(hub.back)),
        ] {
            let claims = hub.core.authority.verify(token?.stringValue ?? "", as: LinkTokenClaims.self)
            #expect(claims?.sub == principal.description)
            #expect(hub.core.state.tokens[claims?.jti ?? ""]?.credential?.principal == principal)
        }
        #expect(first.result["devices"]?.arrayValue?[0]["name"] == "front")
        #expect(hub.core.state.enrolments.isEmpty)
        #expect(hub.stored.contains(.removeEnrolment(box.principal.id)))
        let count = hub.core.state.tokens.values.count

        #expect(try hub.request(box, "enrol.exchange", id: "x") == first)
        let other = LinkAddress.random(box.principal)
        #expect(try hub.request(other, "enrol.exchange", id: "x") == first, "also from a new connection")
        #expect(try hub.request(box, "enrol.exchange", id: "y")?.code == .provisioningTokenExpired)
        hub.advance(.seconds(60))
        #expect(try hub.request(box, "enrol.exchange", id: "x")?.code == .provisioningTokenExpired)
        #expect(hub.core.state.tokens.values.count == count, "no more tokens were issued")
        _ = hub.timeout()
        #expect(removed(hub) == [box.principal.id])
        #expect(hub.core.exchanged.isEmpty)
    }

    private func removed(_ hub: CoreFixture) -> [String] {
        hub.outputs.compactMap { if case .removeCredential(let id) = $0 { id } else { nil } }
    }

    @Test("A box that has its tokens says so, and its credential is removed at once")
    func farewell() throws {
        var hub = try online()
        let box = try enrol(&hub, ["user": "guest"])
        #expect(try hub.send(box, .push(LinkPush(method: "session.end"))).isEmpty)
        #expect(removed(hub).isEmpty, "not before it has its tokens")
        _ = try hub.request(box, "enrol.exchange", id: "x")
        _ = try hub.send(box, .push(LinkPush(method: "session.end")))
        #expect(removed(hub) == [box.principal.id])
        #expect(try hub.request(box, "enrol.exchange", id: "x")?.code == .provisioningTokenExpired)
    }

    @Test("An enrolment opens nothing else: no session, no method, no reply")
    func nothingElse() throws {
        var hub = try online()
        let box = try enrol(&hub, ["user": "owner"])
        for method in ["session.begin", "session.heartbeat", "device.list", "user.list", "model.login", "token.renew"] {
            #expect(try hub.request(box, method, ["session": .string(box.session)])?.code == .invalidRequest)
            let code = try hub.request(box, method, actingAs: hub.owner.principal)?.code
            #expect(code == .invalidRequest)
        }
        #expect(hub.core.sessions[box.principal] == nil && hub.core.state.registrations[box.principal] == nil)
        #expect(try hub.send(box, .reply(LinkReply(id: "x"))).isEmpty)
        #expect(hub.core.state.enrolments.count == 1)
    }

    @Test("It ends to the second, when it is revoked, and when its account is removed")
    func ends() throws {
        var hub = try online()
        let late = try enrol(&hub, ["user": "guest", "ttlSeconds": 30])
        hub.advance(.milliseconds(29_999))
        for address in [hub.owner, hub.guest] { _ = try hub.request(address, "session.begin") }
        _ = hub.timeout()
        #expect(hub.core.state.enrolments.count == 1)
        hub.advance(.milliseconds(1))
        #expect(try hub.request(late, "enrol.exchange")?.code == .provisioningTokenExpired)
        _ = hub.timeout()
        #expect(hub.core.state.enrolments.isEmpty && removed(hub) == [late.principal.id])

        let revoked = try enrol(&hub, ["user": "guest"])
        #expect(
            try hub.request(hub.guest, "token.revoke", ["id": .string(revoked.principal.id)])?.code == .success,
            "it is for the guest")
        #expect(try hub.request(revoked, "enrol.exchange")?.code == .provisioningTokenExpired)

        let orphan = try enrol(&hub, ["user": "guest", "devices": ["front"]])
        #expect(try hub.request(hub.owner, "user.remove", ["accessId": "guest"])?.code == .success)
        #expect(try hub.request(orphan, "enrol.exchange")?.code == .provisioningTokenExpired)
        for wrong: JSONValue in [0, 3_601, "x"] {
            #expect(try hub.request(hub.owner, "token.enrol", ["ttlSeconds": wrong])?.code == .invalidRequest)
        }
    }

    @Test("A hub without an address to give cannot be joined")
    func withoutAddress() throws {
        var hub = try online()
        let time = hub.time
        hub.core = HubCore(state: hub.core.state, authority: hub.core.authority)
        _ = try hub.request(hub.owner, "session.begin")
        #expect(try hub.request(hub.owner, "token.enrol")?.code == .invalidConfiguration)
        let made = try hub.request(hub.owner, "user.createTemporary", ["device": "front", "ttlSeconds": 60])
        #expect(made?.code == .success && made?.result["enrolment"] == nil)
        #expect(hub.time.wall == time.wall)
    }

    @Test("The string contains the hub's address and the authority to trust")
    func text() {
        let tls = EnrolmentString.Place.tls(host: "hub.local", port: 8883, authority: [0xFB, 0xFF])
        #expect(tls.text(id: "enrol-1", secret: "ab") == "iotlink://hub.local:8883?enrol=enrol-1.ab&ca=-_8")
        let six = EnrolmentString.Place.tls(host: "fd00::1", port: 1, authority: [])
        #expect(six.text(id: "i", secret: "s") == "iotlink://[fd00::1]:1?enrol=i.s&ca=")
        let path = EnrolmentString.Place.unixSocket(path: "/var/lib/a b?&#%/x.sock")
        #expect(path.text(id: "i", secret: "s") == "iotlink+unix:///var/lib/a%20b%3F&%23%25/x.sock?enrol=i.s")
    }
}
