import IoTCore
import IoTLink
import NIOCore
import Testing
import ThingModel

@testable import LinkHub

@Suite("The hub's decisions")
struct HubCoreTests {
    private let write: JSONValue = ["device": "front", "path": "ProWritable.quality.setVal", "value": 1]

    @Test("A guest reads and watches, and changes nothing; a stranger does nothing")
    func roles() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let front = JSONValue.string(hub.front.rawValue)
        let calls: [(String, JSONValue, owner: ErrorCode, guest: ErrorCode)] = [
            ("device.show", ["device": front], .success, .success),
            ("property.read", ["device": front, "path": ""], .success, .success),
            ("property.write", write, .success, .relationInvalid),
            ("userProperty.add", ["device": front, "name": "x", "value": 1], .success, .relationInvalid),
            ("userProperty.delete", ["device": front, "name": "x"], .success, .relationInvalid),
            ("call.token", ["device": front, "kind": "monitor", "actions": ["view"]], .success, .success),
            ("call.token", ["device": front, "kind": 1, "actions": ["view", "talk"]], .success, .relationInvalid),
        ]
        for (method, params, owner, guest) in calls {
            #expect(try hub.request(hub.guest, method, params)?.code == guest, "\(method)")
            #expect(try hub.request(hub.owner, method, params)?.code == owner, "\(method)")
            var named = params
            named["device"] = front
            #expect(try hub.request(hub.stranger, method, named)?.code == .relationInvalid, "\(method)")
            // The stranger must not learn the device's name.
            named["device"] = "front"
            #expect(try hub.request(hub.stranger, method, named)?.code == .targetNotFound, "\(method)")
            named["device"] = .string(DeviceID.random().rawValue)
            #expect(try hub.request(hub.owner, method, named)?.code == .targetNotFound, "\(method)")
            named["device"] = .string(hub.back.rawValue)
            #expect(try hub.request(hub.owner, method, named)?.code == .relationInvalid, "\(method)")
        }
        #expect(try hub.request(hub.stranger, "device.list")?.result["devices"] == [])
        #expect(try hub.request(hub.guest, "device.list")?.result["devices"]?.arrayValue?.first?["role"] == "guest")
    }

    @Test("The end of a binding applies from the next request")
    func unbound() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        #expect(try hub.request(hub.owner, "property.write", write)?.code == .success)
        let time = hub.time
        try hub.core.unbind(hub.owner.principal.accessID!, hub.front, at: time)
        #expect(try hub.request(hub.owner, "property.write", write)?.code == .targetNotFound)
    }

    @Test("Devices may not use users' methods, nor users devices' methods")
    func kinds() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        for method in ["property.write", "device.list", "action.take", "call.token", "call.connect"] {
            #expect(try hub.request(hub.camera, method, write)?.code == .invalidRequest)
        }
        for method in ["model.login", "model.report", "model.applied", "call.invite", "no.such"] {
            #expect(try hub.request(hub.owner, method, write)?.code == .invalidRequest)
        }
    }

    @Test("A request after its deadline is not carried out; the same with a later deadline is")
    func deadline() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let late = try hub.request(hub.owner, "property.write", write, id: "late", deadline: hub.time.wall)
        #expect(late?.code == .messageTimeout)
        let read = try hub.request(
            hub.owner, "property.read", ["device": "front", "path": "ProWritable.quality.setVal"])
        #expect(read?.result["value"] == 0)
        #expect(try hub.request(hub.owner, "property.write", write, id: "late")?.code == .success)
    }

    @Test("Malformed messages are ignored, or answered if they have an id; nothing traps")
    func rubbish() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        for text in [
            "", "{", "null", "[]", "{}", #"{"id":"x"}"#, #"{"id":5,"method":"a"}"#, #"{"method":"session.end2"}"#,
            #"{"id":"../x","method":"a","t":1,"deadline":1}"#, #"{"id":"unknown","code":0}"#, "\u{0}",
            String(repeating: "[", count: 100_000), #"{"id":"x","code":9223372036854775807}"#,
        ] {
            #expect(hub.send(hub.owner, Array(text.utf8)).isEmpty, "\(text.prefix(40))")
        }
        let answered = hub.send(hub.owner, Array(#"{"id":"x","method":"device.list"}"#.utf8))
        #expect(answered.first?.replyCode == .invalidRequest)
        for method in ["property.read", "property.write", "action.take", "userProperty.add", "call.connect"] {
            for params: JSONValue in [
                [:], .null, [], ["device": 5], ["device": "front", "path": 1],
            ] {
                #expect(try hub.request(hub.owner, method, params)?.code != .success)
            }
        }
        var unconditional = write
        unconditional["ifVersion"] = "x"
        #expect(try hub.request(hub.owner, "property.write", unconditional)?.code == .invalidRequest)
        let extremes = try hub.sendRequest(
            hub.owner, "action.take",
            ["device": "front", "path": "Action.cameraOn", "timeoutMilliseconds": .integer(.min)], deadline: .max)
        #expect(extremes.first?.address == hub.camera)
        #expect(try hub.request(hub.owner, "device.list", deadline: .min)?.code == .messageTimeout)
        for changes: JSONValue in [[], 1, [1], [["path": "x"]], [["path": "", "value": 1]]] {
            _ = try hub.request(hub.camera, "model.report", ["changes": changes])
        }
        for version: Int64 in [.min, 0, 99_999, .max] {
            _ = try hub.request(
                hub.camera, "model.applied", ["path": "ProWritable.quality", "version": .integer(version)])
        }
    }

    @Test("More requests a second than allowed get 25024, and a second later they are served again")
    func rate() throws {
        var limits = HubLimits()
        limits.requestsPerSecond = 10
        var hub = try CoreFixture(limits: limits)
        _ = try hub.request(hub.owner, "session.begin")
        var codes: [ErrorCode] = []
        for _ in 0..<20 { codes.append(try hub.request(hub.owner, "device.list")?.code ?? .notFound) }
        #expect(codes.filter { $0 == .success }.count == 9)
        #expect(codes.last == .tooManyRequests)
        #expect(try hub.request(hub.guest, "session.begin")?.code == .success, "others are not affected")
        hub.advance(.seconds(1))
        #expect(try hub.request(hub.owner, "device.list")?.code == .success)
    }

    // MARK: Sessions

    @Test("A session that was taken over is kicked and then ignored: its requests, its will, and a new begin")
    func superseded() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let newer = LinkAddress.random(hub.camera.principal)
        let sent = try hub.sendRequest(newer, "session.begin")
        #expect(
            sent.contains { $0.address == hub.camera && $0.envelope == .push(LinkPush.kick(at: hub.time.wall)) })
        #expect(!sent.contains { $0.pushMethod == "device.presence" }, "it never went offline")
        #expect(try hub.request(hub.camera, "model.report", ["changes": []]) == nil)
        #expect(try hub.send(hub.camera, .push(LinkPush(method: "session.end"))).isEmpty)
        let again = try hub.sendRequest(hub.camera, "session.begin")
        #expect(again.first?.pushMethod == SessionMethod.kick.name)
        #expect(hub.core.sessions[hub.camera.principal]?.address == newer)
    }

    @Test("The will of a connection that its session has left, or never used, does not end the session")
    func staleWill() throws {
        var hub = try CoreFixture()
        #expect(try hub.request(hub.camera, "session.begin", ["connection": 1])?.code == .success)
        #expect(try hub.request(hub.camera, "session.heartbeat", ["connection": 2])?.code == .success)
        func will(_ connection: JSONValue) -> Envelope {
            .push(
                LinkPush(
                    method: SessionMethod.end.name, params: ["reason": "connectionLost", "connection": connection]))
        }
        for stale: JSONValue in [1, 3] {
            #expect(try hub.send(hub.camera, will(stale)).isEmpty)
            #expect(hub.core.sessions[hub.camera.principal] != nil)
        }
        _ = try hub.send(hub.camera, will(2))
        #expect(hub.core.sessions[hub.camera.principal] == nil)
    }

    @Test("An unknown session gets an error until it begins")
    func unknownSession() throws {
        var hub = try CoreFixture()
        #expect(try hub.request(hub.owner, "device.list")?.code == .linkUnavailable)
        #expect(try hub.request(hub.owner, "session.begin", ["session": "other"])?.code == .invalidRequest)
        let nobody = LinkAddress.random(.device(.random()))
        #expect(try hub.request(nobody, "session.begin")?.code == .targetNotFound)
    }

    @Test("A silent session ends, and its users are notified; an active one does not")
    func silence() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        hub.advance(.seconds(50))
        for address in [hub.owner, hub.guest] { _ = try hub.request(address, "session.heartbeat") }
        hub.advance(.seconds(11))
        let sent = hub.timeout()
        #expect(hub.core.sessions[hub.camera.principal] == nil)
        #expect(hub.core.sessions[hub.owner.principal] != nil)
        let notified = sent.filter { $0.pushMethod == "device.presence" }.map(\.address)
        #expect(Set(notified) == [hub.owner, hub.guest])
        let online = try hub.request(
            hub.owner, "property.read", ["device": "front", "path": "ProReadonly._online.stVal"])
        #expect(online?.result["value"] == 0)
    }

    @Test("After an outage, a session that stays silent ends soon")
    func outage() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let time = hub.time
        hub.core.handleOutage(at: time)
        hub.advance(.seconds(20))
        _ = try hub.request(hub.owner, "session.heartbeat")
        hub.advance(.seconds(11))
        _ = hub.timeout()
        #expect(Set(hub.core.sessions.sessions.keys) == [hub.owner.principal])
    }

    // MARK: Forwards

    @Test("An action reaches the device with the name of its requester, and its answer reaches only the requester")
    func action() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let take: JSONValue = ["device": "front", "path": "Action.cameraOn", "value": ["ctlVal": 0]]
        let sent = try hub.sendRequest(hub.owner, "action.take", take, id: "a")
        guard case .request(let forwarded)? = sent.first?.envelope else {
            Issue.record("nothing was forwarded")
            return
        }
        #expect(sent.count == 1 && sent.first?.address == hub.camera)
        #expect(forwarded.from == hub.owner.principal)
        #expect(forwarded.params["origin"] == "u/owner")
        #expect(forwarded.params["t"] == .integer(hub.time.seconds))
        #expect(forwarded.params["value"] == 0)

        // A repeat while it is in progress is not forwarded again.
        #expect(try hub.sendRequest(hub.owner, "action.take", take, id: "a").isEmpty)
        // No other session can answer for the device.
        #expect(try hub.send(hub.guest, .reply(LinkReply(id: forwarded.id))).isEmpty)
        let part = try hub.send(hub.camera, .reply(LinkReply(id: forwarded.id, result: 1, seq: 0, final: false)))
        #expect(part.map(\.envelope) == [.reply(LinkReply(id: "a", result: 1, seq: 0, final: false))])
        let end = try hub.send(hub.camera, .reply(LinkReply(id: forwarded.id, result: ["value": 0])))
        #expect(end.first?.address == hub.owner)
        #expect(end.first?.envelope == .reply(LinkReply(id: "a", result: ["value": 0])))
        #expect(try hub.send(hub.camera, .reply(LinkReply(id: forwarded.id))).isEmpty, "once")
        #expect(try hub.request(hub.owner, "action.take", take, id: "a")?.result == ["value": 0])
        let noted = try hub.request(hub.guest, "property.read", ["device": "front", "path": "Action.cameraOn"])
        #expect(noted?.result["value"]?["origin"] == "u/owner")
    }

    @Test("A repeat after some seconds goes to the device again under the same id, and its one answer ends it")
    func repeatedForward() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let take: JSONValue = ["device": "front", "path": "Action.cameraOn", "value": ["ctlVal": 0]]
        let sent = try hub.sendRequest(hub.owner, "action.take", take, id: "a")
        hub.advance(.milliseconds(1_900))
        #expect(try hub.sendRequest(hub.owner, "action.take", take, id: "a").isEmpty, "the device may be busy with it")
        hub.advance(.milliseconds(1_100))
        let again = try hub.sendRequest(hub.owner, "action.take", take, id: "a")
        #expect(again.map(\.envelope) == sent.map(\.envelope) && again.map(\.address) == [hub.camera])
        #expect(try hub.sendRequest(hub.owner, "action.take", take, id: "a").isEmpty, "once for each time")
        guard case .request(let forwarded)? = sent.first?.envelope else {
            Issue.record("nothing was forwarded")
            return
        }
        let end = try hub.send(hub.camera, .reply(LinkReply(id: forwarded.id, result: ["value": 0])))
        #expect(end.first?.envelope == .reply(LinkReply(id: "a", result: ["value": 0])))
        #expect(try hub.send(hub.camera, .reply(LinkReply(id: forwarded.id))).isEmpty)
    }

    @Test("An action without an answer in time ends with 20001, one with a device that leaves with 8000")
    func actionWithoutAnswer() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let take: JSONValue = ["device": "front", "path": "Action.cameraOn", "timeoutMilliseconds": 2_000]
        #expect(try hub.request(hub.owner, "action.take", take) == nil)
        hub.advance(.milliseconds(1_999))
        #expect(hub.timeout().isEmpty)
        hub.advance(.milliseconds(1))
        #expect(hub.timeout().first?.replyCode == .peerTimeout)

        #expect(try hub.request(hub.owner, "action.take", take) == nil)
        let sent = try hub.send(hub.camera, .push(LinkPush(method: "session.end")))
        #expect(sent.contains { $0.address == hub.owner && $0.replyCode == .deviceOffline })
        #expect(try hub.request(hub.owner, "action.take", take)?.code == .deviceOffline)
        let unknown = try hub.request(hub.owner, "action.take", ["device": "front", "path": "Action.no"])
        #expect(unknown?.code == .pathInvalid)
    }

    @Test(
        "Successive writes are delivered one at a time, the newest last, and again if unanswered or refused as too many"
    )
    func deliveries() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        func deliveries(_ sent: [Sent]) -> [LinkRequest] {
            sent.compactMap { sent in
                if case .request(let request) = sent.envelope, sent.address == hub.camera { request } else { nil }
            }
        }
        var path = write
        let first = deliveries(try hub.sendRequest(hub.owner, "property.write", path))
        #expect(first.map(\.method) == ["model.write"])
        for value in 2...5 {
            path["value"] = .integer(Int64(value))
            #expect(deliveries(try hub.sendRequest(hub.owner, "property.write", path)).isEmpty)
        }
        let second = deliveries(try hub.send(hub.camera, .reply(LinkReply(id: first[0].id))))
        #expect(second.first?.params["value"]?["setVal"] == 5)
        hub.advance(.seconds(10))
        let third = deliveries(hub.timeout())
        #expect(third.first?.params == second.first?.params)
        #expect(third.first?.id != second.first?.id)
        let busy = IoTError(.tooManyRequests)
        let fourth = deliveries(try hub.send(hub.camera, .reply(LinkReply(id: third[0].id, error: busy))))
        #expect(fourth.first?.params == third.first?.params)
        // After that it is delivered at the next login.
        #expect(deliveries(try hub.send(hub.camera, .reply(LinkReply(id: fourth[0].id, error: busy)))).isEmpty)
        #expect(hub.core.forwards.isEmpty)
    }

    @Test("The hub wakes at a forwarded request's deadline, and not before")
    func forwardDeadline() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        _ = hub.timeout()
        let action: JSONValue = [
            "device": "front", "path": "Action.cameraOn", "value": ["ctlVal": 0], "timeoutMilliseconds": 3_000,
        ]
        let asked = try hub.sendRequest(hub.owner, "action.take", action)
        #expect(asked.first?.address == hub.camera)
        #expect(hub.core.nextTimeout(at: hub.time) == hub.time.monotonic + .seconds(3))
        hub.advance(.milliseconds(2_999))
        #expect(hub.timeout().isEmpty)
        hub.advance(.milliseconds(1))
        guard case .reply(let reply)? = hub.timeout().first?.envelope else {
            Issue.record("the time-out was not reported")
            return
        }
        #expect(reply.code == .peerTimeout)
        // Nothing waits: the next check is of the sessions.
        #expect(hub.core.nextTimeout(at: hub.time) == hub.time.monotonic + .seconds(5))
    }

    @Test("A device that lost its connection gets its open requests again when it returns: same ids and order")
    func forwardedAgain() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        // With eight, an unordered table is unlikely to give the right order.
        let asked = try (0..<8).map { value in
            try hub.sendRequest(
                hub.owner, "action.take", ["device": "front", "path": "Action.cameraOn", "value": .integer(value % 2)]
            ).filter { $0.address == hub.camera }.map(\.envelope)
        }
        #expect(asked.allSatisfy { $0.count == 1 })
        let back = try hub.sendRequest(hub.camera, "session.begin")
        #expect(back.filter { $0.address == hub.camera }.dropFirst().map(\.envelope) == asked.flatMap(\.self))
    }

    @Test("A device that has begun but not logged in gets no deliveries yet, and everything at its login")
    func beforeLogin() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        _ = try hub.request(hub.camera, "session.begin")
        let sent = try hub.sendRequest(hub.owner, "property.write", write)
        #expect(!sent.contains { $0.address == hub.camera })
        let login = try hub.request(hub.camera, "model.login", try ModelLogin.sample().json)
        #expect(login?.result["writable"]?["quality"]?["value"]?["setVal"] == 1)
    }

    @Test("A delivery that was lost with its connection does not block later writes after the next login")
    func lostDelivery() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let lost = try hub.sendRequest(hub.owner, "property.write", write)
        #expect(lost.contains { $0.address == hub.camera })
        _ = try hub.request(hub.camera, "session.begin")
        let login = try hub.request(hub.camera, "model.login", try ModelLogin.sample().json)
        #expect(login?.result["writable"]?["quality"]?["value"]?["setVal"] == 1)
        var later = write
        later["value"] = 2
        let sent = try hub.sendRequest(hub.owner, "property.write", later)
        #expect(sent.first { $0.address == hub.camera }?.request?.params["value"]?["setVal"] == 2)
    }

    // MARK: Calls

    @Test("A call needs a token of this user for this device and kind; the device gets it and what it grants")
    func callToken() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let ask: JSONValue = ["device": "front", "kind": "monitor", "actions": ["view", "talk"]]
        let token = try #require(try hub.request(hub.owner, "call.token", ask)?.result["token"])
        let connect: JSONValue = [
            "device": "front", "kind": "monitor", "source": 0, "session": "s1", "token": token, "later": 7,
            "grant": ["user": "u/guest"], "peerSession": "forged",
        ]
        let sent = try hub.sendRequest(hub.owner, "call.connect", connect)
        guard case .request(let forwarded)? = sent.first?.envelope else {
            Issue.record("nothing was forwarded")
            return
        }
        #expect(sent.first?.address == hub.camera)
        #expect(forwarded.from == hub.owner.principal)
        #expect(forwarded.params["token"] == token)
        #expect(forwarded.params["later"] == 7, "unknown members are passed on")
        #expect(forwarded.params["kind"] == "monitor" && forwarded.params["grant"]?["kind"] == "monitor")
        #expect(forwarded.params["grant"]?["user"] == "u/owner")
        #expect(forwarded.params["grant"]?["actions"] == ["view", "talk"])
        #expect(forwarded.params["grant"]?["owner"] == true)
        let peerSession = forwarded.params["peerSession"]?.stringValue
        #expect(peerSession == HubCore.peerSession(of: hub.owner, for: hub.front))
        let bytes = try Envelope.request(forwarded).serialized()
        #expect(
            !String(decoding: bytes, as: UTF8.self).contains(hub.owner.session),
            "peers get no session id, because it is part of earlier clients' MQTT client ids")
        #expect(peerSession != HubCore.peerSession(of: hub.owner, for: hub.back))

        #expect(try hub.request(hub.guest, "call.connect", connect)?.code == .callTokenInvalid, "another user's")
        var other = connect
        other["kind"] = "live"
        #expect(try hub.request(hub.owner, "call.connect", other)?.code == .callTokenInvalid, "another kind")
        other["kind"] = "monitor"
        other["token"] = "x.y.z"
        #expect(try hub.request(hub.owner, "call.connect", other)?.code == .callTokenInvalid)
        let time = hub.time
        let link = try hub.core.issueToken(hub.owner.principal, lifetime: 600, at: time).token
        other["token"] = .string(link)
        #expect(try hub.request(hub.owner, "call.connect", other)?.code == .callTokenInvalid, "a link token")
        hub.advance(.seconds(121))
        for address in [hub.owner, hub.camera] { _ = try hub.request(address, "session.begin") }
        #expect(try hub.request(hub.owner, "call.connect", connect)?.code == .callTokenInvalid, "expired")
    }

    @Test("A device gets the hub's keys when it begins, and reads a call token's grant with them")
    func callTokenAtDevice() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let begun = try #require(try hub.request(hub.camera, "session.begin")?.result)
        let keys = try #require(begun["tokenKeys"].flatMap(TokenKeys.init(jwkSet:)))
        #expect(try hub.request(hub.owner, "session.begin")?.result["tokenKeys"] == nil)
        for (caller, isOwner) in [(hub.owner, true), (hub.guest, false)] {
            // Without a kind, as from a client that knows only one.
            let answer = try hub.request(caller, "call.token", ["device": "front", "actions": ["view"]])?.result
            let token = try #require(answer?["token"]?.stringValue)
            let claims = try #require(keys.payload(of: token))
            #expect(claims["kind"] == "call" && claims["sub"] == .string("d/\(hub.front)"))
            #expect(claims["from"] == .string(caller.principal.description) && claims["channel"] == "monitor")
            #expect(claims["actions"] == ["view"] && claims["owner"] == .bool(isOwner))
            #expect(claims["exp"] == answer?["expires"])
            let connect: JSONValue = ["device": "front", "session": .string("\(isOwner)"), "token": .string(token)]
            let sent = try hub.sendRequest(caller, "call.connect", connect)
            #expect(sent.first?.address == hub.camera && sent.first?.request?.params["kind"] == "monitor")
        }
    }

    @Test("A token that says owner is invalid for calls after the device has another owner")
    func callTokenOfFormerOwner() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let ask: JSONValue = ["device": "front", "kind": "monitor", "actions": ["view"]]
        let token = try #require(try hub.request(hub.owner, "call.token", ask)?.result["token"])
        let time = hub.time
        let owner = try #require(hub.owner.principal.accessID)
        try hub.core.bind(owner, hub.front, .guest, at: time)
        let connect: JSONValue = ["device": "front", "kind": "monitor", "session": "s1", "token": token]
        #expect(try hub.request(hub.owner, "call.connect", connect)?.code == .callTokenInvalid)
        var renewed = connect
        renewed["token"] = try #require(try hub.request(hub.owner, "call.token", ask)?.result["token"])
        #expect(try hub.sendRequest(hub.owner, "call.connect", renewed).first?.address == hub.camera)
    }

    @Test("Call messages pass only between a device and its own users, with the sender's name")
    func callMessages() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let invite: JSONValue = [
            "peer": "u/owner", "peerSession": .string(HubCore.peerSession(of: hub.owner, for: hub.front)),
            "session": "s", "offer": "v=0",
        ]
        let sent = try hub.sendRequest(hub.camera, "call.invite", invite, id: "i")
        guard case .request(let forwarded)? = sent.first?.envelope else {
            Issue.record("nothing was forwarded")
            return
        }
        #expect(sent.first?.address == hub.owner)
        #expect(forwarded.from == hub.camera.principal)
        let answer = try hub.send(hub.owner, .reply(LinkReply(id: forwarded.id, result: ["answer": "v=0"])))
        #expect(answer.first?.address == hub.camera)
        #expect(answer.first?.envelope == .reply(LinkReply(id: "i", result: ["answer": "v=0"])))

        var wrong = invite
        wrong["peer"] = "u/stranger"
        #expect(try hub.request(hub.camera, "call.invite", wrong)?.code == .relationInvalid)
        wrong["peer"] = "u/owner"
        wrong["peerSession"] = "0"
        #expect(try hub.request(hub.camera, "call.invite", wrong)?.code == .appNotOnline)
        for peer in ["d/\(hub.front)", "u/owner"] {
            let trickle: JSONValue = ["peer": .string(peer), "session": "s", "candidate": ""]
            #expect(try hub.request(hub.stranger, "call.trickle", trickle)?.code == .relationInvalid)
        }
        let trickle: JSONValue = ["peer": .string("d/\(hub.front)"), "session": "s", "candidate": "x"]
        #expect(try hub.sendRequest(hub.guest, "call.trickle", trickle).first?.address == hub.camera)
        _ = try hub.send(hub.guest, .push(LinkPush(method: "session.end")))
        wrong["peer"] = "u/guest"
        wrong["peerSession"] = nil
        #expect(try hub.request(hub.camera, "call.end", wrong)?.code == .appNotOnline)
    }

    // MARK: Tokens

    @Test("A token is deleted with its last second, and the hub knows when to check")
    func tokenExpiry() throws {
        var hub = try CoreFixture()
        let time = hub.time
        let id = try hub.core.issueToken(hub.owner.principal, lifetime: 100, at: time).id
        hub.advance(.milliseconds(99_900))
        _ = hub.timeout()
        #expect(hub.core.state.tokens[id] != nil)
        let next = hub.core.nextTimeout(at: hub.time)
        #expect(next == hub.time.monotonic + .milliseconds(100))
        hub.advance(.milliseconds(100))
        _ = hub.timeout()
        #expect(hub.core.state.tokens[id] == nil)
        #expect(hub.stored.contains(.removeToken(id)))
        #expect(hub.core.state.tokens.nextExpiry == nil)
    }

    @Test("Answers are forgotten after ten minutes, in memory and in the store")
    func forgottenAnswers() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        #expect(try hub.request(hub.owner, "property.write", write, id: "w")?.code == .success)
        hub.advance(.seconds(599))
        _ = hub.timeout()
        #expect(hub.core.state.answers.count == 1)
        hub.advance(.seconds(20))
        _ = hub.timeout()
        #expect(hub.core.state.answers.count == 0)
        #expect(hub.stored.contains(.forgetAnswers([1...1])))
    }

    @Test("A conditional write that lost the race gets the present value and version")
    func conditionalWrite() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let version = try #require(try hub.request(hub.owner, "property.write", write)?.result["version"])
        var second = write
        second["ifVersion"] = 1
        let lost = try hub.request(hub.owner, "property.write", second)
        #expect(lost?.code == .versionConflict)
        #expect(lost?.result["version"] == version)
        #expect(lost?.result["value"] == 1)
        second["ifVersion"] = version
        #expect(try hub.request(hub.owner, "property.write", second)?.code == .success)
    }
}

extension LinkPush {
    fileprivate static func kick(at wall: Int64) -> LinkPush {
        LinkPush(method: SessionMethod.kick.name, params: ["reason": "superseded"], t: wall)
    }
}
