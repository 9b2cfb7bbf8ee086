import IoTCore
import IoTLink
import NIOCore
import Testing
import ThingModel

@testable import LinkHub

@Suite("Provisioning at the hub, in virtual time")
struct ProvisioningTests {
    private func online(_ limits: HubLimits = HubLimits()) throws -> CoreFixture {
        var hub = try CoreFixture(limits: limits)
        try hub.bringEverybodyOnline()
        return hub
    }

    private struct Token {
        var id: String
        var text: String
        /// Who holds the token and has nothing else.
        var device: LinkAddress
    }

    private func token(
        _ hub: inout CoreFixture, _ params: JSONValue = [:], as user: LinkAddress? = nil
    ) throws -> Token {
        let made = try #require(try hub.request(user ?? hub.owner, "net.token", params)?.outcome.get())
        let id = try #require(made["id"]?.stringValue)
        let text = try #require(made["token"]?.stringValue)
        let string = try EnrolmentString(hub: try #require(made["hub"]?.stringValue), token: text)
        #expect(string.text == made["enrolment"]?.stringValue && string.id == id && string.token == text)
        return Token(
            id: id, text: text, device: .random(try #require(Principal(kind: .enrolment, id: id))))
    }

    private func phase(_ hub: inout CoreFixture, _ token: Token, as user: LinkAddress? = nil) throws -> JSONValue? {
        try hub.request(user ?? hub.owner, "net.show", ["id": .string(token.id)])?.outcome.get()
    }

    private func notices(_ sent: [Sent], to address: LinkAddress) -> [JSONValue] {
        sent.filter { $0.address == address }.compactMap(\.push)
            .filter { $0.method == "device.event" && $0.params["topic"] == "EVENT_SYS/NetCfg_OK" }
            .compactMap { $0.params["body"] }
    }

    /// What a refusal must leave as it was.
    private struct Digest: Equatable {
        var bindings: [DeviceID: [AccessID: Binding]]
        var devices: [DeviceID: DeviceRecord]
        var tokens: Int

        init(_ hub: CoreFixture) {
            let state = hub.core.state
            bindings = Dictionary(uniqueKeysWithValues: state.devices.keys.map { ($0, state.bindings.users(of: $0)) })
            devices = state.devices
            tokens = state.tokens.values.count
        }
    }

    // MARK: The way

    @Test("A new device exchanges the token, is its asker's, and the asker is told when it comes online, once")
    func newcomer() throws {
        var hub = try online()
        let token = try token(&hub)
        #expect(token.text.utf8.count == 32)
        #expect(hub.core.state.enrolments[token.id]?.expires == hub.time.seconds + 300)
        #expect(try phase(&hub, token)?["phase"] == "waiting")

        let reply = try hub.request(token.device, "enrol.exchange", ["name": "yard"], id: "x")
        let given = try #require(reply?.result["devices"]?.arrayValue?.first)
        #expect(given["name"] == "yard" && given["token"]?.stringValue?.isEmpty == false)
        #expect(reply?.result["user"] == nil)
        let yard = try #require(hub.core.state.names["yard"])
        #expect(given["device"] == .string(yard.rawValue))
        #expect(hub.core.state.bindings[yard, hub.owner.principal.accessID!]?.role == .owner)
        #expect(try phase(&hub, token)?["phase"] == "bound")
        // A lost reply comes again; the token makes no second device.
        #expect(try hub.request(token.device, "enrol.exchange", ["name": "yard"], id: "x")?.result == reply?.result)
        let before = Digest(hub)
        #expect(try hub.request(token.device, "enrol.exchange", ["name": "yard"])?.code == .provisioningTokenExpired)
        #expect(Digest(hub) == before)

        let camera = LinkAddress.random(.device(yard))
        let sent = try hub.sendRequest(camera, "session.begin")
        let body: JSONValue = ["data": ["devid": .string(yard.rawValue)], "token": .string(token.id)]
        #expect(notices(sent, to: hub.owner) == [body] && notices(sent, to: hub.guest).isEmpty)
        let status = try phase(&hub, token)
        #expect(status?["phase"] == "online" && status?["name"] == "yard")
        #expect(status?["binding"]?["device"] == .string(yard.rawValue))
        #expect(status?["binding"]?["accessToken"]?.stringValue?.isEmpty == false)
        // Another session, of the same device or another one, says nothing new.
        #expect(notices(try hub.sendRequest(.random(.device(yard)), "session.begin"), to: hub.owner).isEmpty)
    }

    @Test("The notice comes also when the hub was started anew between binding and coming online")
    func restart() throws {
        var hub = try online()
        let token = try token(&hub)
        _ = try hub.request(token.device, "enrol.exchange", ["name": "yard"])
        let yard = try #require(hub.core.state.names["yard"])
        hub.core = HubCore(state: hub.core.state, authority: hub.core.authority, identity: hub.core.identity)
        _ = try hub.request(hub.owner, "session.begin")
        #expect(try phase(&hub, token)?["phase"] == "bound")
        let sent = try hub.sendRequest(.random(.device(yard)), "session.begin")
        #expect(notices(sent, to: hub.owner).count == 1)
        #expect(try phase(&hub, token)?["phase"] == "online")
    }

    @Test("A name that is taken gets a number, one that is none is 'camera'; the device knows itself by its own")
    func names() throws {
        var hub = try online()
        for (asked, name, told): (JSONValue, String, JSONValue) in [
            (["name": "front"], "front-2", "front"), (["name": "not a name"], "camera", "camera"),
            ([:], "camera-2", "camera-2"), (["name": 7], "camera-3", "camera-3"),
        ] {
            let token = try token(&hub)
            let reply = try hub.request(token.device, "enrol.exchange", asked)
            let given = try #require(reply?.result["devices"]?.arrayValue?.first)
            #expect(given["name"] == told)
            #expect(hub.core.state.names[name].map { .string($0.rawValue) } == given["device"])
        }
    }

    @Test("A device that has enrolled before comes with the token in its own session")
    func claim() throws {
        var hub = try online()
        let token = try token(&hub, as: hub.stranger)
        let back = LinkAddress.random(.device(hub.back))
        _ = try hub.request(back, "session.begin")
        let sent = try hub.sendRequest(back, "net.claim", ["token": .string(token.text)], id: "c")
        let stranger = hub.stranger.principal.accessID!
        #expect(hub.core.state.bindings[hub.back, stranger]?.role == .owner)
        #expect(notices(sent, to: hub.stranger).count == 1)
        #expect(sent.contains { $0.address == back && $0.replyCode == .success })
        #expect(try phase(&hub, token, as: hub.stranger)?["phase"] == "online")
        #expect(hub.outputs.isEmpty == false && hub.core.state.enrolments.isEmpty)
        // The same request again, and the token again.
        #expect(try hub.request(back, "net.claim", ["token": .string(token.text)], id: "c")?.code == .success)
        let before = Digest(hub)
        #expect(try hub.request(back, "net.claim", ["token": .string(token.text)])?.code == .provisioningTokenExpired)
        #expect(try hub.request(token.device, "enrol.exchange")?.code == .provisioningTokenExpired)
        #expect(Digest(hub) == before)
    }

    @Test("With a device the token is for that one: it comes anew, and stays the same device")
    func sameDevice() throws {
        var hub = try online()
        #expect(try hub.request(hub.guest, "net.token", ["device": "front"])?.code == .relationInvalid)
        #expect(try hub.request(hub.stranger, "net.token", ["device": "front"])?.code == .targetNotFound)
        let token = try token(&hub, ["device": "front", "ttlSeconds": 3_600])
        let devices = hub.core.state.devices.count
        let reply = try hub.request(token.device, "enrol.exchange", ["name": "other"])
        let given = try #require(reply?.result["devices"]?.arrayValue?.first)
        #expect(given["device"] == .string(hub.front.rawValue) && given["name"] == "front")
        #expect(hub.core.state.devices.count == devices)
        // The old box may go on until the new one begins.
        _ = try hub.request(hub.camera, "session.heartbeat")
        #expect(try phase(&hub, token)?["phase"] == "bound")
        #expect(notices(try hub.sendRequest(.random(.device(hub.front)), "session.begin"), to: hub.owner).count == 1)
        #expect(try phase(&hub, token)?["phase"] == "online")
    }

    // MARK: Refusals

    @Test("A device of somebody's stays theirs: 8022, 8023, 21102; the token is used up, and its asker reads why")
    func notBindable() throws {
        var hub = try online()
        let back = LinkAddress.random(.device(hub.back))
        _ = try hub.request(back, "session.begin")
        for (asker, params, device, code): (LinkAddress, JSONValue, LinkAddress, ErrorCode) in [
            (hub.owner, [:], hub.camera, .alreadyBound), (hub.stranger, [:], hub.camera, .boundToOther),
            (hub.guest, [:], hub.camera, .boundToOther), (hub.owner, ["device": "front"], back, .notBindable),
        ] {
            let token = try token(&hub, params, as: asker)
            let before = Digest(hub)
            let sent = try hub.sendRequest(device, "net.claim", ["token": .string(token.text)])
            #expect(sent.map(\.replyCode) == [code])
            #expect(Digest(hub) == before)
            let status = try phase(&hub, token, as: asker)
            #expect(status?["phase"] == "failed")
            #expect(status?["failure"]?["code"] == .integer(Int64(code.rawValue)))
            #expect(status?["failure"]?["message"]?.stringValue?.isEmpty == false)
            #expect(hub.core.state.enrolments[token.id] == nil)
            #expect(
                try hub.request(back, "net.claim", ["token": .string(token.text)])?.code == .provisioningTokenExpired)
            let other = asker == hub.guest ? hub.owner : hub.guest
            #expect(try hub.request(other, "net.show", ["id": .string(token.id)])?.code == .provisioningTokenExpired)
        }
        // After ten minutes nobody reads it any more, and the memory is bounded.
        hub.advance(.seconds(601))
        for address in [hub.owner, back] { _ = try hub.request(address, "session.begin") }
        let token = try token(&hub, ["device": "front"])
        _ = try hub.request(back, "net.claim", ["token": .string(token.text)])
        #expect(hub.core.failedProvisionings.count == 1)
    }

    @Test("What is not a token, is wrong, expired, revoked or of another kind changes nothing, and uses nothing up")
    func wrongTokens() throws {
        var hub = try online()
        let back = LinkAddress.random(.device(hub.back))
        _ = try hub.request(back, "session.begin")
        let token = try token(&hub, as: hub.stranger)
        let plain = try hub.request(hub.owner, "token.enrol", ["devices": ["front"]])?.result["enrolment"]?.stringValue
        let before = Digest(hub)
        let wrongSecret = token.text.dropLast() + (token.text.last == "A" ? "Q" : "A")
        for (text, code): (String, ErrorCode) in [
            ("", .provisioningTokenFailed), ("x", .provisioningTokenFailed),
            ("A" + token.text, .provisioningTokenFailed),
            (String(token.text.dropLast()), .provisioningTokenFailed), ("iotlink://x", .provisioningTokenFailed),
            (String(repeating: "a", count: 31) + "é", .provisioningTokenFailed),
            (String(wrongSecret), .provisioningTokenExpired),
            (String(repeating: "a", count: 32), .provisioningTokenExpired),
            (try #require(plain), .provisioningTokenExpired),
        ] {
            let reply = try hub.request(back, "net.claim", ["token": .string(text)])
            #expect(reply?.code == code, "\(text)")
            #expect(reply?.message.contains(token.text.suffix(22)) == false)
        }
        #expect(try hub.request(back, "net.claim")?.code == .invalidRequest)
        #expect(Digest(hub) == before)
        #expect(try phase(&hub, token, as: hub.stranger)?["phase"] == "waiting")
        // Its time is over, to the second.
        hub.advance(.milliseconds(299_999))
        for address in [hub.owner, hub.stranger, back] { _ = try hub.request(address, "session.begin") }
        #expect(try phase(&hub, token, as: hub.stranger)?["phase"] == "waiting")
        hub.advance(.milliseconds(1))
        #expect(try hub.request(back, "net.claim", ["token": .string(token.text)])?.code == .provisioningTokenExpired)
        #expect(try hub.request(token.device, "enrol.exchange")?.code == .provisioningTokenExpired)
        #expect(
            try hub.request(hub.stranger, "net.show", ["id": .string(token.id)])?.code == .provisioningTokenExpired)
        _ = hub.timeout()
        #expect(hub.core.state.enrolments[token.id] == nil)

        let revoked = try self.token(&hub)
        #expect(try hub.request(hub.owner, "token.revoke", ["id": .string(revoked.id)])?.code == .success)
        #expect(try hub.request(back, "net.claim", ["token": .string(revoked.text)])?.code == .provisioningTokenExpired)
        #expect(hub.core.state.bindings.owner(of: hub.back) == nil)
    }

    @Test("A token ends with the device it is for, and with its asker; it never becomes one for any device")
    func ends() throws {
        var hub = try online()
        let time = hub.time
        try hub.core.ensureAdministrator(hub.owner.principal.accessID!, at: time)
        let named = try token(&hub, ["device": "front"])
        let open = try token(&hub)
        #expect(try hub.request(hub.owner, "device.remove", ["device": "front"])?.code == .success)
        #expect(hub.core.state.enrolments.keys.sorted() == [open.id])
        #expect(try hub.request(named.device, "enrol.exchange")?.code == .provisioningTokenExpired)
        let strangers = try token(&hub, as: hub.stranger)
        #expect(try hub.request(hub.owner, "user.remove", ["accessId": "stranger"])?.code == .success)
        #expect(try hub.request(strangers.device, "enrol.exchange")?.code == .provisioningTokenExpired)
        #expect(hub.core.state.enrolments.keys.sorted() == [open.id])
    }

    @Test("No token: 21100 without an address or with too many open, 8024 for a temporary account")
    func noToken() throws {
        var hub = try online()
        for wrong: JSONValue in [0, 3_601, "x"] {
            #expect(try hub.request(hub.owner, "net.token", ["ttlSeconds": wrong])?.code == .invalidRequest)
        }
        let made = try hub.request(hub.owner, "user.createTemporary", ["device": "front", "ttlSeconds": 60])
        let temporary = LinkAddress.random(.user(AccessID(rawValue: made?.result["accessId"]?.stringValue ?? "")!))
        _ = try hub.request(temporary, "session.begin")
        #expect(try hub.request(temporary, "net.token")?.code == .customerMismatch)
        for _ in 0..<HubCore.openEnrolmentsOfUser { _ = try token(&hub, as: hub.stranger) }
        let refused = try hub.request(hub.stranger, "net.token")
        #expect(refused?.code == .provisioningTokenFailed && refused?.message.contains("too many") == true)
        hub.core = HubCore(state: hub.core.state, authority: hub.core.authority)
        _ = try hub.request(hub.owner, "session.begin")
        #expect(try hub.request(hub.owner, "net.token")?.code == .provisioningTokenFailed)
    }

    @Test("A hub without room says 21103, makes nothing, and the token serves when there is room")
    func noRoom() throws {
        var limits = HubLimits()
        limits.devices = 2
        var hub = try online(limits)
        let token = try token(&hub)
        let before = Digest(hub)
        #expect(try hub.request(token.device, "enrol.exchange")?.code == .provisioningServer)
        #expect(Digest(hub) == before)
        #expect(try phase(&hub, token)?["phase"] == "waiting")
        let time = hub.time
        let back = hub.back
        _ = try hub.core.handle { core throws(IoTError) in try core.removeDevice(back, at: time) }
        #expect(try hub.request(token.device, "enrol.exchange")?.code == .success)
    }

    // MARK: The token of the binding

    @Test("The AccessToken of a binding subscribes its own account, while the binding stands, and changes nothing")
    func accessToken() throws {
        var hub = try online()
        let time = hub.time
        try hub.core.ensureAdministrator(hub.owner.principal.accessID!, at: time)
        func bind(_ hub: inout CoreFixture) throws -> JSONValue {
            let reply = try hub.request(
                hub.owner, "device.bind", ["device": "front", "user": "stranger", "actions": ["view", "talk"]])
            return ["token": .string(try #require(reply?.result["accessToken"]?.stringValue))]
        }
        let token = try bind(&hub)
        let before = Digest(hub)
        let reply = try hub.request(hub.stranger, "device.subscribe", token)
        #expect(reply?.result["role"] == "guest" && reply?.result["actions"] == ["view", "talk"])
        #expect(reply?.result["accessToken"] == nil)
        #expect(try hub.request(hub.guest, "device.subscribe", token)?.code == .forbidden)
        #expect(Digest(hub) == before)
        // The binding is over; another one is another.
        #expect(try hub.request(hub.stranger, "device.unbind", ["device": "front"])?.code == .success)
        #expect(try hub.request(hub.stranger, "device.subscribe", token)?.code == .provisioningTokenExpired)
        hub.advance(.seconds(1))
        let second = try bind(&hub)
        #expect(try hub.request(hub.stranger, "device.subscribe", token)?.code == .provisioningTokenExpired)
        #expect(try hub.request(hub.stranger, "device.subscribe", second)?.code == .success)
        hub.advance(.hours(24))
        _ = try hub.request(hub.stranger, "session.begin")
        #expect(try hub.request(hub.stranger, "device.subscribe", second)?.code == .provisioningTokenExpired)
    }
}
