import IoTCore
import IoTLink
import NIOCore
import Testing

@testable import LinkHub

@Suite("Bindings")
struct BindingTests {
    private static let bob = RightsFixture.bob

    private func withBob() throws -> (hub: CoreFixture, bob: LinkAddress) {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let time = hub.time
        try hub.core.addUser(Self.bob, at: time)
        let address = LinkAddress.random(.user(Self.bob))
        _ = try hub.request(address, "session.begin")
        return (hub, address)
    }

    @Test("A guest gets the given actions, `view` by default, and is notified; repeating the request gets 8022")
    func guests() throws {
        var (hub, bob) = try withBob()
        var bind: JSONValue = ["device": "front", "user": "bob"]
        var sent = try hub.sendRequest(hub.owner, "device.bind", bind)
        #expect(sent.contains { $0.address == bob && $0.pushMethod == "device.bound" })
        let notified = sent.compactMap(\.push).first
        #expect(
            notified?.params == [
                "device": .string(hub.front.rawValue), "name": "front", "role": "guest", "actions": ["view"],
            ])
        #expect(try hub.request(hub.owner, "device.bind", bind)?.code == .alreadyBound)
        bind["actions"] = ["control", "view"]
        sent = try hub.sendRequest(hub.owner, "device.bind", bind)
        #expect(sent.compactMap(\.push).first?.params["actions"] == ["view", "control"], "a change, notified again")
        #expect(try hub.request(hub.owner, "device.bind", bind)?.code == .alreadyBound)
        for wrong: JSONValue in [[], ["fly"], "view", [1]] {
            bind["actions"] = wrong
            #expect(try hub.request(hub.owner, "device.bind", bind)?.code == .invalidRequest)
        }
        bind["actions"] = nil
        bind["user"] = "nobody"
        let missing = try hub.request(hub.owner, "device.bind", bind)
        #expect(missing?.code == .targetNotFound && missing?.remedy?.contains("iotctl user list") == true)
        bind["user"] = "bob"
        bind["role"] = "king"
        #expect(try hub.request(hub.owner, "device.bind", bind)?.code == .invalidRequest)

        let users = try hub.request(hub.owner, "device.users", ["device": "front"])?.result["users"]?.arrayValue
        #expect(users?.map { $0["accessId"] } == ["bob", "guest", "owner"])
        #expect(users?.first?["actions"] == ["view", "control"])
        #expect(users?.first?["since"] == .integer(hub.time.wall))
        let listed = try hub.request(bob, "device.list")?.result["devices"]?.arrayValue?.first
        #expect(listed?["actions"] == ["view", "control"] && listed?["owner"] == "owner")
    }

    @Test("A device has one owner; another takes it only by force, and the old one is notified and loses its rights")
    func owners() throws {
        var (hub, bob) = try withBob()
        var bind: JSONValue = ["device": "front", "user": "bob", "role": "owner"]
        #expect(try hub.request(hub.owner, "device.bind", bind)?.code == .boundToOther)
        #expect(hub.core.state.bindings.owner(of: hub.front)?.rawValue == "owner")
        bind["force"] = true
        let sent = try hub.sendRequest(hub.owner, "device.bind", bind)
        let unbound = sent.first { $0.pushMethod == "device.unbound" }
        #expect(unbound?.address == hub.owner)
        #expect(unbound?.push?.params == ["device": .string(hub.front.rawValue), "reason": "forced"])
        #expect(hub.core.state.bindings.owner(of: hub.front) == Self.bob)
        // The device learns it at once, and with each session.
        let owned = sent.first { $0.pushMethod == "device.owned" }
        #expect(owned?.address == hub.camera)
        let ownership = try #require(owned?.push?.params["ownership"]?.integerValue)
        #expect(try hub.request(hub.camera, "session.begin")?.result["ownership"] == .integer(ownership))
        #expect(try hub.request(bob, "session.begin")?.result["ownership"] == nil, "not for users")
        let listed = try hub.request(bob, "device.list")?.result["devices"]?.arrayValue?.first
        #expect(listed?["ownership"] == .integer(ownership))
        bind["user"] = "guest"
        bind["role"] = nil
        let guest = try hub.sendRequest(bob, "device.bind", bind)
        #expect(!guest.contains { $0.pushMethod == "device.owned" }, "a guest is no owner")
        #expect(try hub.request(hub.owner, "device.show", ["device": "front"])?.code == .targetNotFound)
        #expect(try hub.request(bob, "device.users", ["device": "front"])?.code == .success)
        // When an owner leaves, only administrators can claim the device.
        #expect(try hub.request(bob, "device.unbind", ["device": "front"])?.code == .success)
        let front = JSONValue.string(hub.front.rawValue)
        for address in [hub.owner, bob, hub.guest] {
            let claim: JSONValue = [
                "device": front, "user": .string(address.principal.id), "role": "owner",
            ]
            #expect(try hub.request(address, "device.bind", claim)?.code == .relationInvalid)
        }
        let time = hub.time
        try hub.core.ensureAdministrator(Self.bob, at: time)
        #expect(
            try hub.request(bob, "device.bind", ["device": front, "user": "bob", "role": "owner"])?.code == .success)
        let next = try hub.request(hub.camera, "session.begin")?.result["ownership"]
        #expect(next == .integer(ownership + 1), "the same owner again is a new one")
    }

    @Test("Only users who may view a device get its pushes, and only until their binding ends")
    func pushes() throws {
        var (hub, bob) = try withBob()
        let write: JSONValue = ["device": "front", "path": "ProWritable.quality.setVal", "value": 1]
        func notified(_ sent: [Sent]) -> Set<LinkAddress> {
            Set(sent.filter { $0.pushMethod == "property.update" }.map(\.address))
        }
        let time = hub.time
        try hub.core.bind(Self.bob, hub.front, .guest, .control, at: time)
        #expect(notified(try hub.sendRequest(hub.owner, "property.write", write)) == [hub.owner, hub.guest])
        _ = try hub.request(hub.owner, "device.bind", ["device": "front", "user": "bob"])
        #expect(notified(try hub.sendRequest(hub.owner, "property.write", write)) == [hub.owner, hub.guest, bob])
        let sent = try hub.sendRequest(hub.owner, "device.unbind", ["device": "front", "user": "guest"])
        #expect(sent.first { $0.address == hub.guest }?.push?.params["reason"] == "unbound")
        #expect(notified(try hub.sendRequest(hub.owner, "property.write", write)) == [hub.owner, bob])
        #expect(
            try hub.request(hub.owner, "device.unbind", ["device": "front", "user": "guest"])?.code == .relationInvalid)
    }

    // MARK: Calls

    /// A call of the guest that the device has accepted.
    private func call(
        _ hub: inout CoreFixture, _ user: LinkAddress, actions: JSONValue = ["view"], session: String = "c1",
        actingAs: Principal? = nil
    ) throws {
        let token = try hub.request(
            user, "call.token", ["device": "front", "kind": "monitor", "actions": actions], actingAs: actingAs)
        let connect: JSONValue = [
            "device": "front", "kind": "monitor", "session": .string(session), "token": token?.result["token"] ?? .null,
        ]
        let sent = try hub.sendRequest(user, "call.connect", connect, actingAs: actingAs)
        let forwarded = try #require(sent.first?.request)
        _ = try hub.send(hub.camera, .reply(LinkReply(id: forwarded.id, result: [:])))
    }

    private func endings(_ sent: [Sent]) -> [LinkAddress: LinkRequest] {
        Dictionary(
            sent.compactMap { sent in
                sent.request.flatMap { $0.method == "call.end" ? (sent.address, $0) : nil }
            }
        ) { first, _ in first }
    }

    @Test("When a binding ends, its calls end on both sides with 20014, each as if sent by the other side")
    func callsEnd() throws {
        var (hub, _) = try withBob()
        try call(&hub, hub.guest)
        try call(&hub, hub.owner, session: "c2")
        let sent = try hub.sendRequest(hub.owner, "device.unbind", ["device": "front", "user": "guest"])
        let ends = endings(sent)
        #expect(Set(ends.keys) == [hub.guest, hub.camera], "the owner's call goes on")
        for (address, from) in [(hub.guest, hub.camera.principal), (hub.camera, hub.guest.principal)] {
            let end = try #require(ends[address])
            #expect(end.from == from)
            #expect(end.params["peer"] == .string(address.principal.description))
            #expect(end.params["session"] == "c1" && end.params["code"] == 20014)
            _ = try hub.send(address, .reply(LinkReply(id: end.id, result: [:])))
        }
        #expect(hub.core.state.calls.count == 1)
        #expect(hub.stored.contains(.removeCall(OpenCall.Key(device: hub.front, session: "c1"))))
        #expect(hub.core.forwards.isEmpty)
    }

    @Test("A call ends when an action that it needs is withdrawn, and goes on when another action is")
    func actionWithdrawn() throws {
        var (hub, bob) = try withBob()
        var bind: JSONValue = ["device": "front", "user": "bob", "actions": ["view", "talk", "control"]]
        _ = try hub.request(hub.owner, "device.bind", bind)
        try call(&hub, bob, actions: ["listen", "talk"])
        bind["actions"] = ["view", "talk"]
        #expect(endings(try hub.sendRequest(hub.owner, "device.bind", bind)).isEmpty)
        bind["actions"] = ["view"]
        #expect(Set(endings(try hub.sendRequest(hub.owner, "device.bind", bind)).keys) == [bob, hub.camera])
    }

    @Test("The calls of an owner end when it becomes a guest, also if it may still view the device")
    func roleWithdrawn() throws {
        var (hub, _) = try withBob()
        try call(&hub, hub.owner)
        let guest: JSONValue = ["device": "front", "user": .string(hub.owner.principal.id), "role": "guest"]
        #expect(Set(endings(try hub.sendRequest(hub.owner, "device.bind", guest)).keys) == [hub.owner, hub.camera])
    }

    @Test("A side that was offline is notified of the end when it is back, also by a restarted hub, until it answers")
    func endingsWait() throws {
        var (hub, _) = try withBob()
        try call(&hub, hub.guest)
        // The link of both is lost, but not the media between them.
        for address in [hub.guest, hub.camera] { _ = try hub.send(address, .push(LinkPush(method: "session.end"))) }
        #expect(hub.core.state.calls.count == 1)
        let unbound = try hub.sendRequest(hub.owner, "device.unbind", ["device": "front", "user": "guest"])
        #expect(endings(unbound).isEmpty)
        // A new core with the same state is a restarted hub.
        hub.core = HubCore(state: hub.core.state, authority: hub.core.authority)
        _ = try hub.request(hub.owner, "session.begin")
        let begun = try hub.sendRequest(hub.camera, "session.begin")
        let own = begun.filter { $0.address == hub.camera }
        #expect(own.first?.replyCode == .success, "until then the client accepts no request")
        let end = try #require(endings(begun)[hub.camera])
        hub.advance(.seconds(10))
        let again = try #require(endings(hub.timeout())[hub.camera])
        #expect(again.id == end.id, "a repeat of the same request")
        _ = try hub.send(hub.camera, .reply(LinkReply(id: end.id, result: [:])))
        #expect(endings(try hub.sendRequest(hub.camera, "session.begin")).isEmpty)
        let user = try #require(endings(try hub.sendRequest(hub.guest, "session.begin"))[hub.guest])
        #expect(hub.core.state.calls.count == 1)
        _ = try hub.send(hub.guest, .reply(LinkReply(id: user.id, code: .callTargetNotFound)))
        #expect(hub.core.state.calls.count == 0)
    }

    @Test("A call that one side ended or the device refused is forgotten; a call session can be used once at a time")
    func callsClosed() throws {
        var (hub, _) = try withBob()
        try call(&hub, hub.guest)
        let token = try hub.request(
            hub.guest, "call.token", ["device": "front", "kind": "monitor", "actions": ["view"]])
        var connect: JSONValue = [
            "device": "front", "kind": "monitor", "session": "c1", "token": token?.result["token"] ?? .null,
        ]
        #expect(try hub.request(hub.guest, "call.connect", connect)?.code == .duplicateCall)
        let peer: JSONValue = ["peer": "u/guest", "session": "c1", "code": 20008]
        #expect(try hub.sendRequest(hub.camera, "call.end", peer).first?.address == hub.guest)
        #expect(hub.core.state.calls.count == 0)
        connect["session"] = "c3"
        let refused = try #require(try hub.sendRequest(hub.guest, "call.connect", connect).first?.request)
        #expect(hub.core.state.calls.count == 1)
        _ = try hub.send(hub.camera, .reply(LinkReply(id: refused.id, code: .allChannelsBusy)))
        #expect(hub.core.state.calls.count == 0)
        for wrong: JSONValue in ["", 5, .string(String(repeating: "x", count: 65))] {
            connect["session"] = wrong
            #expect(try hub.request(hub.guest, "call.connect", connect)?.code == .invalidRequest)
        }
    }

    @Test("A device's message in a call that was made in a user's name goes to the session that made the call")
    func callInAnothersName() throws {
        var (hub, _) = try withBob()
        let time = hub.time
        try hub.core.ensureAdministrator(Self.bob, at: time)
        let gateway = LinkAddress.random(.user(Self.bob))
        _ = try hub.request(gateway, "session.begin")
        try call(&hub, gateway, session: "c9", actingAs: hub.guest.principal)
        let invite: JSONValue = [
            "peer": "u/guest", "peerSession": .string(HubCore.peerSession(of: gateway, for: hub.front)),
            "session": "c9", "offer": "v=0",
        ]
        #expect(try hub.sendRequest(hub.camera, "call.invite", invite).first?.address == gateway)
        let sent = try hub.sendRequest(hub.owner, "device.unbind", ["device": "front", "user": "guest"])
        #expect(Set(endings(sent).keys) == [gateway, hub.camera])
        // A device cannot use a call to reach anyone but its caller.
        var other = invite
        other["session"] = "unknown"
        other["peer"] = "u/bob"
        #expect(try hub.request(hub.camera, "call.invite", other)?.code == .relationInvalid)
    }

    @Test("A user's pending requests to a device end with the right to them; other users' requests go on")
    func waitingRequests() throws {
        var (hub, bob) = try withBob()
        _ = try hub.request(hub.owner, "device.bind", ["device": "front", "user": "bob", "actions": ["control"]])
        let take: JSONValue = ["device": "front", "path": "Action.cameraOn", "value": ["ctlVal": 0]]
        #expect(try hub.request(bob, "action.take", take) == nil)
        #expect(try hub.request(hub.owner, "action.take", take) == nil)
        let sent = try hub.sendRequest(hub.owner, "device.bind", ["device": "front", "user": "bob"])
        #expect(sent.filter { $0.replyCode == .relationChanged }.map(\.address) == [bob])
        #expect(hub.core.forwards.count == 1)
        #expect(sent.contains { $0.address == hub.owner && $0.replyCode == .success })
    }
}
