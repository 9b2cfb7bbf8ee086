import IoTCore
import IoTLink
import NIOCore
import Testing

@testable import LinkHub

@Suite("Accounts")
struct AccountTests {
    private func withAdministrator() throws -> (hub: CoreFixture, administrator: LinkAddress) {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let time = hub.time
        let id = AccessID(rawValue: "administrator")!
        try hub.core.addUser(id, kind: .administrator, at: time)
        let address = LinkAddress.random(.user(id))
        _ = try hub.request(address, "session.begin")
        return (hub, address)
    }

    @Test("Two thousand devices with the longest names each appear once, in pages that fit into an answer")
    func manyDevices() throws {
        var limits = HubLimits()
        limits.requestsPerSecond = 10_000
        var hub = try CoreFixture(limits: limits)
        try hub.bringEverybodyOnline()
        let (time, owner) = (hub.time, AccessID(rawValue: "owner")!)
        let before = try hub.request(hub.owner, "device.list")?.result["devices"]?.arrayValue?.count ?? 0
        for number in 0..<2_000 {
            let name = "\(number)-" + String(repeating: "x", count: 64 - "\(number)-".count)
            hub.core.setBinding(owner, try hub.core.addDevice(named: name), .owner, .all, at: time)
        }
        var names: [String] = []
        var params: JSONValue = [:]
        var pages = 0
        while pages < 100 {
            let page = try #require(try hub.request(hub.owner, "device.list", params)).result
            names += page["devices"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
            pages += 1
            guard page["more"] == true else { break }
            params["after"] = .string(names.last ?? "")
        }
        #expect(names.count == before + 2_000 && Set(names).count == names.count && names == names.sorted())
        #expect(pages == 5)
    }

    @Test("Accounts are created, listed and removed; no account removes itself, and one administrator always remains")
    func lifeOfAccounts() throws {
        var (hub, administrator) = try withAdministrator()
        let made = try hub.request(administrator, "user.create", ["accessId": "bob", "kind": "administrator"])
        #expect(made?.result == ["accessId": "bob", "kind": "administrator"])
        #expect(try hub.request(administrator, "user.create", ["accessId": "bob"])?.code == .nameTaken)
        for wrong: JSONValue in [
            [:], ["accessId": "Bob!"], ["accessId": "x", "kind": "temporary"], ["accessId": "x", "kind": 1],
        ] {
            #expect(try hub.request(administrator, "user.create", wrong)?.code == .invalidRequest)
        }
        let users = try hub.request(administrator, "user.list")?.result["users"]?.arrayValue
        #expect(users?.map { $0["accessId"] } == ["administrator", "bob", "guest", "owner", "stranger"])
        #expect(users?[1]["kind"] == "administrator" && users?[1]["created"] == .integer(hub.time.wall))
        let page = try hub.request(administrator, "user.list", ["after": "bob", "limit": 1])?.result
        #expect(page?["users"]?.arrayValue?.map { $0["accessId"] } == ["guest"] && page?["more"] == true)

        func remove(_ name: String, as address: LinkAddress) throws -> ErrorCode? {
            try hub.request(address, "user.remove", ["accessId": .string(name)])?.code
        }
        #expect(try remove("administrator", as: administrator) == .forbidden)
        #expect(try remove("nobody", as: administrator) == .targetNotFound)
        #expect(try remove("bob", as: administrator) == .success)
        // Acting in another's name does not hide which administrator asks.
        let time = hub.time
        try hub.core.addUser(AccessID(rawValue: "second")!, kind: .administrator, at: time)
        let code = try hub.request(
            administrator, "user.remove", ["accessId": "administrator"],
            actingAs: .user(AccessID(rawValue: "second")!))?.code
        #expect(code == .forbidden)
    }

    @Test("An administrator finds a device by name if it has no owner or was never online, but no other device")
    func unclaimedDevices() throws {
        var (hub, administrator) = try withAdministrator()
        // `back` has no owner and was never online: its name finds it.
        let shown = try hub.request(administrator, "device.show", ["device": "back"])
        #expect(shown?.code == .success && shown?.result["role"] == .null && shown?.result["owner"] == .null)
        #expect(try hub.request(administrator, "device.export", ["device": "back"])?.code == .success)
        let rename: JSONValue = ["device": "back", "name": "yard"]
        #expect(try hub.request(administrator, "device.rename", rename)?.code == .success)
        #expect(try hub.request(administrator, "device.show", ["device": "yard"])?.result["name"] == "yard")
        // For other accounts the device does not exist.
        for address in [hub.owner, hub.guest, hub.stranger] {
            for method in ["device.show", "device.export", "device.rename"] {
                let params: JSONValue = ["device": "yard", "name": "mine"]
                #expect(try hub.request(address, method, params)?.code == .targetNotFound, "\(method)")
            }
        }
        // `front` has an owner and was online.
        for method in ["device.show", "device.export", "device.rename"] {
            let params: JSONValue = ["device": "front", "name": "mine"]
            #expect(try hub.request(administrator, method, params)?.code == .targetNotFound, "\(method)")
        }
        // A device that was never online has no data of its owner, so its name finds it too.
        let owned: JSONValue = ["name": "attic", "owner": "owner"]
        #expect(try hub.request(administrator, "device.create", owned)?.code == .success)
        let attic: JSONValue = ["device": "attic", "name": "loft"]
        #expect(try hub.request(administrator, "device.rename", attic)?.code == .success)
        #expect(try hub.request(hub.owner, "device.show", ["device": "loft"])?.code == .success)
    }

    @Test("An administrator cannot remove the daemon's own account")
    func ownAccount() throws {
        var hub = try CoreFixture(ownAccount: AccessID(rawValue: "owner"))
        try hub.bringEverybodyOnline()
        let time = hub.time
        let second = LinkAddress.random(.user(AccessID(rawValue: "second")!))
        try hub.core.addUser(second.principal.accessID!, kind: .administrator, at: time)
        _ = try hub.request(second, "session.begin")
        #expect(try hub.request(second, "user.remove", ["accessId": "owner"])?.code == .forbidden)
        #expect(hub.core.state.users[hub.owner.principal.accessID!] != nil)
        #expect(try hub.request(second, "user.remove", ["accessId": "guest"])?.code == .success)
    }

    @Test("A removed account loses its session, tokens, enrolments and bindings at once, and cannot register again")
    func removal() throws {
        var (hub, administrator) = try withAdministrator()
        let time = hub.time
        let token = try hub.core.issueToken(hub.guest.principal, lifetime: 600, at: time).id
        _ = try hub.request(hub.guest, "token.enrol")
        let sent = try hub.sendRequest(administrator, "user.remove", ["accessId": "guest"])
        let pushes = sent.filter { $0.address == hub.guest }.compactMap(\.push)
        #expect(pushes.map(\.method) == ["device.unbound", SessionMethod.kick.name])
        #expect(pushes.map { $0.params["reason"] } == ["removed", "removed"])
        #expect(hub.core.state.tokens[token] == nil && hub.core.state.enrolments.isEmpty)
        #expect(hub.core.state.bindings[hub.front, AccessID(rawValue: "guest")!] == nil)
        #expect(hub.core.state.registrations[hub.guest.principal] == nil)
        #expect(try hub.request(hub.guest, "device.list")?.code == .linkUnavailable)
        #expect(try hub.request(hub.guest, "session.begin")?.code == .targetNotFound)
    }

    @Test("A temporary account expires to the second, is for its device only, and its tokens expire with it")
    func temporary() throws {
        var (hub, _) = try withAdministrator()
        let create: JSONValue = ["device": "front", "actions": ["view", "talk"], "ttlSeconds": 100]
        let made = try #require(try hub.request(hub.owner, "user.createTemporary", create)?.result)
        let name = try #require(made["accessId"]?.stringValue)
        #expect(name.hasPrefix("temporary-") && name.utf8.count == 18)
        #expect(made["expires"] == .integer(hub.time.seconds + 100))
        #expect(made["enrolment"]?.stringValue?.hasPrefix("iotlink+unix:///run/hub/broker.sock?enrol=enrol-") == true)
        let user = try #require(AccessID(rawValue: name))
        let address = LinkAddress.random(.user(user))
        _ = try hub.request(address, "session.begin")
        let time = hub.time
        #expect(try hub.core.issueToken(.user(user), lifetime: 10_000, at: time).expires == hub.time.seconds + 100)
        #expect(try hub.request(address, "device.list")?.result["devices"]?.arrayValue?.count == 1)
        // 8024
        try hub.core.bind(hub.owner.principal.accessID!, hub.back, .owner, at: time)
        let elsewhere: JSONValue = ["device": "back", "user": .string(name)]
        #expect(try hub.request(hub.owner, "device.bind", elsewhere)?.code == .customerMismatch)
        let own: JSONValue = ["device": "front", "user": .string(name), "role": "owner", "force": true]
        #expect(try hub.request(hub.owner, "device.bind", own)?.code == .invalidRequest)
        for wrong: JSONValue in [59, 604_801, .null, "60"] {
            var params = create
            params["ttlSeconds"] = wrong
            #expect(try hub.request(hub.owner, "user.createTemporary", params)?.code == .invalidRequest)
        }

        hub.advance(.milliseconds(99_999))
        for other in [address, hub.owner] { _ = try hub.request(other, "session.begin") }
        _ = hub.timeout()
        #expect(hub.core.state.users[user] != nil)
        let next = try #require(hub.core.nextTimeout(at: hub.time))
        #expect(next <= hub.time.monotonic + .milliseconds(1))
        hub.advance(.milliseconds(1))
        let sent = hub.timeout()
        let pushes = sent.filter { $0.address == address }.compactMap(\.push)
        #expect(pushes.map { $0.params["reason"] } == ["expired", "removed"])
        #expect(hub.core.state.users[user] == nil && hub.core.state.tokens.of(.user(user)).isEmpty)
        #expect(hub.stored.contains(.removeUser(user)))
    }

    @Test(
        "A temporary account for one call ends with the first call that its device took; a refused one does not count")
    func oneCall() throws {
        var (hub, _) = try withAdministrator()
        let create: JSONValue = ["device": "front", "ttlSeconds": 600, "oneCall": true]
        let made = try #require(try hub.request(hub.owner, "user.createTemporary", create)?.result)
        let user = try #require(made["accessId"]?.stringValue.flatMap(AccessID.init(rawValue:)))
        let address = LinkAddress.random(.user(user))
        _ = try hub.request(address, "session.begin")
        let query: JSONValue = ["device": "front", "kind": "monitor", "actions": ["view"]]
        func connect(_ session: String) throws -> LinkRequest? {
            let token = try hub.request(address, "call.token", query)?.result["token"] ?? .null
            let connect: JSONValue = [
                "device": "front", "kind": "monitor", "session": .string(session), "token": token,
            ]
            let sent = try hub.sendRequest(address, "call.connect", connect)
            if let refused = sent.first(where: { $0.address == address })?.replyCode {
                #expect(refused == .relationInvalid)
            }
            return sent.first { $0.address == hub.camera }?.request
        }
        let refused = try #require(try connect("c1"))
        _ = try hub.send(hub.camera, .reply(LinkReply(id: refused.id, code: .allChannelsBusy)))
        _ = hub.timeout()
        #expect(hub.core.state.users[user] != nil)

        let taken = try #require(try connect("c2"))
        #expect(try connect("c3") == nil, "while the first is being made")
        _ = try hub.send(hub.camera, .reply(LinkReply(id: taken.id, result: [:])))
        #expect(try connect("c4") == nil, "while the first goes on")
        // A restarted hub knows it, too.
        #expect(
            hub.stored.contains { change in
                if case .putUser(user, let record) = change { record.oneCall == .begun } else { false }
            })
        _ = hub.timeout()
        #expect(hub.core.state.users[user] != nil)
        let end: JSONValue = ["peer": .string("d/\(hub.front)"), "session": "c2", "code": 20002]
        _ = try hub.sendRequest(address, "call.end", end)
        #expect(try connect("c5") == nil, "after the first has ended")
        let next = try #require(hub.core.nextTimeout(at: hub.time))
        #expect(next <= hub.time.monotonic + .milliseconds(1))
        let reasons = hub.timeout().filter { $0.address == address }.compactMap(\.push).map { $0.params["reason"] }
        #expect(reasons.contains("expired"))
        #expect(hub.core.state.users[user] == nil)
    }

    @Test("A temporary account is removed with its binding, and with its device")
    func temporaryWithoutDevice() throws {
        var (hub, administrator) = try withAdministrator()
        func make() throws -> AccessID {
            let made = try hub.request(hub.owner, "user.createTemporary", ["device": "front", "ttlSeconds": 600])
            return try #require(made?.result["accessId"]?.stringValue.flatMap(AccessID.init(rawValue:)))
        }
        let first = try make()
        let unbind: JSONValue = ["device": "front", "user": .string(first.rawValue)]
        #expect(try hub.request(hub.owner, "device.unbind", unbind)?.code == .success)
        #expect(hub.core.state.users[first] == nil)
        let second = try make()
        #expect(try hub.request(administrator, "device.remove", ["device": "front"])?.code == .success)
        #expect(hub.core.state.users[second] == nil)
        for _ in 0..<2 {
            #expect(try hub.request(administrator, "device.remove", ["device": "front"])?.code != nil)
        }
    }

    @Test("A device has a bounded number of temporary accounts")
    func boundedTemporaries() throws {
        var (hub, _) = try withAdministrator()
        var codes: [ErrorCode?] = []
        for _ in 0..<33 {
            codes.append(
                try hub.request(hub.owner, "user.createTemporary", ["device": "front", "ttlSeconds": 600])?.code)
        }
        #expect(codes.last == .tooManyRequests, "the limit of a member's open enrolments")
        #expect(hub.core.state.users.values.count { $0.kind == .temporary } == 32, "a refused request creates nothing")
    }

    @Test("A device has at most 64 temporary accounts")
    func manyTemporary() throws {
        var (hub, administrator) = try withAdministrator()
        let create: JSONValue = ["device": "front", "ttlSeconds": 600]
        for _ in 0..<HubCore.temporaryAccountsOfDevice {
            #expect(try hub.request(administrator, "user.createTemporary", create)?.code == .success)
        }
        #expect(try hub.request(administrator, "user.createTemporary", create)?.code == .tooManyRequests)
        #expect(
            try hub.request(administrator, "user.createTemporary", ["device": "back", "ttlSeconds": 600])?.code
                == .success)
    }

    @Test("A removed device and its users are notified, and no data of the device remains")
    func deviceRemoval() throws {
        var (hub, administrator) = try withAdministrator()
        let time = hub.time
        _ = try hub.core.issueToken(.device(hub.front), lifetime: 600, at: time)
        _ = try hub.request(hub.owner, "token.enrol", ["devices": ["front"]])
        _ = try hub.request(administrator, "token.enrol", ["user": "owner", "devices": ["front", "back"]])
        let sent = try hub.sendRequest(hub.owner, "device.remove", ["device": "front"])
        #expect(sent.contains { $0.address == hub.camera && $0.push?.params["reason"] == "removed" })
        for user in [hub.owner, hub.guest] {
            #expect(sent.contains { $0.address == user && $0.pushMethod == "device.unbound" })
        }
        let state = hub.core.state
        #expect(state.devices[hub.front] == nil && state.names["front"] == nil && state.models[hub.front] == nil)
        #expect(state.tokens.of(.device(hub.front)).isEmpty && state.bindings.users(of: hub.front).isEmpty)
        #expect(state.enrolments.values.map(\.devices) == [[hub.back]], "one ended, the other goes on without it")
        #expect(try hub.request(hub.camera, "session.begin")?.code == .targetNotFound)
    }

    @Test("A device gets a new name, and its users are notified")
    func rename() throws {
        var (hub, administrator) = try withAdministrator()
        let made = try hub.request(administrator, "device.create", ["name": "door", "owner": "guest"])?.result
        #expect(made?["name"] == "door")
        #expect(try hub.request(administrator, "device.create", ["name": "door"])?.code == .nameTaken)
        #expect(try hub.request(administrator, "device.create", ["name": "a b"])?.code == .invalidRequest)
        let unknown = try hub.request(administrator, "device.create", ["name": "gate", "owner": "nobody"])
        #expect(unknown?.code == .targetNotFound && hub.core.state.names["gate"] == nil)
        let rename: JSONValue = ["device": "door", "name": "gate"]
        let sent = try hub.sendRequest(hub.guest, "device.rename", rename)
        #expect(sent.contains { $0.address == hub.guest && $0.push?.params["name"] == "gate" })
        #expect(try hub.request(hub.guest, "device.rename", ["device": "gate", "name": "front"])?.code == .nameTaken)
    }
}
