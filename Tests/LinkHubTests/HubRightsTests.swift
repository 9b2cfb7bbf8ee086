import IoTCore
import IoTLink
import Testing
import ThingModel

@testable import LinkHub

@Suite("Who may call what")
struct HubRightsTests {
    typealias Role = RightsFixture.Role

    /// One request as every role sends it, and the result that each must get.
    struct Row: Sendable, CustomTestStringConvertible {
        var method: String
        var params: Params
        /// In the order of `Role.allCases`; 0 for a request that is carried out or forwarded.
        var codes: [Int]
        var note: String

        typealias Params = @Sendable (RightsFixture, Role) throws -> JSONValue

        init(_ method: String, _ note: String, _ codes: [Int], _ params: @escaping Params = HubRightsTests.front([:])) {
            self.method = method
            self.note = note
            self.codes = codes
            self.params = params
        }

        init(_ method: String, _ codes: [Int], _ params: @escaping Params = HubRightsTests.front([:])) {
            self.init(method, "", codes, params)
        }

        var testDescription: String { note.isEmpty ? method : "\(method), \(note)" }
    }

    /// The id of `front`, with more parameters.
    static func front(_ more: JSONValue) -> Row.Params {
        { fixture, _ in
            var params = more
            params["device"] = .string(fixture.hub.front.rawValue)
            return params
        }
    }

    private static func plain(_ params: JSONValue) -> Row.Params {
        { _, _ in params }
    }

    /// The other side of a call with `front`.
    @Sendable private static func peer(_ fixture: RightsFixture, _ role: Role) -> JSONValue {
        let peer = role.isDevice ? fixture.hub.owner.principal : .device(fixture.hub.front)
        return ["peer": .string(peer.description), "session": "s", "candidate": "", "command": "play"]
    }

    static let rows: [Row] = [
        //                             owner view  talk  playb contr confi unbou tempo admin camer other
        Row("user.list", [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001], plain([:])),
        Row(
            "user.create", [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001],
            plain(["accessId": "new"])),
        Row(
            "user.remove", [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001],
            plain(["accessId": "bob"])),
        Row(
            "user.createTemporary", [0, 8003, 8003, 8003, 8003, 8003, 8003, 8003, 0, 25001, 25001],
            front(["ttlSeconds": 60])),
        Row("device.list", [0, 0, 0, 0, 0, 0, 0, 0, 0, 25001, 25001], plain([:])),
        Row(
            "device.list", "of another", [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001],
            plain(["user": "bob"])),
        Row(
            "device.list", "of another principal",
            [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001],
            plain(["user": "u/bob"])),
        Row("device.show", [0, 0, 8003, 8003, 8003, 8003, 8003, 0, 8003, 25001, 25001]),
        Row("device.export", [0, 0, 8003, 8003, 8003, 8003, 8003, 0, 8003, 25001, 25001]),
        Row(
            "device.create", [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001],
            plain(["name": "new"])),
        Row(
            "device.rename", [0, 8003, 8003, 8003, 8003, 0, 8003, 8003, 8003, 25001, 25001], front(["name": "door"])),
        Row("device.remove", [0, 8003, 8003, 8003, 8003, 8003, 8003, 8003, 0, 25001, 25001]),
        Row("device.bind", [0, 8003, 8003, 8003, 8003, 8003, 8003, 8003, 0, 25001, 25001], front(["user": "bob"])),
        Row(
            "device.bind", "by force, to own it", [0, 8003, 8003, 8003, 8003, 8003, 8003, 8003, 0, 25001, 25001],
            front(["user": "bob", "role": "owner", "force": true])),
        Row("device.unbind", "oneself", [0, 0, 0, 0, 0, 0, 8003, 0, 8003, 25001, 25001]),
        Row(
            "device.unbind", "the owner", [0, 8003, 8003, 8003, 8003, 8003, 8003, 8003, 0, 25001, 25001],
            front(["user": "owner"])),
        Row("device.share", [0, 8003, 8003, 8003, 8003, 8003, 8003, 8003, 0, 25001, 25001]),
        // A malformed token; valid ones are tested in SubscriptionTests.
        Row(
            "device.subscribe",
            [21100, 21100, 21100, 21100, 21100, 21100, 21100, 21100, 21100, 25001, 25001], plain(["token": "x"])),
        Row(
            "device.lanPassword", [0, 8003, 8003, 8003, 8003, 0, 8003, 8003, 8003, 25001, 25001],
            front(["password": "guess"])),
        Row("device.users", [0, 8003, 8003, 8003, 8003, 8003, 8003, 8003, 0, 25001, 25001]),

        Row("token.create", [0, 0, 0, 0, 0, 0, 0, 0, 0, 25001, 25001], plain(["ttlSeconds": 60])),
        Row(
            "token.create", "for another", [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001],
            plain(["principal": "u/bob", "ttlSeconds": 60])),
        Row(
            "token.create", "for a device",
            [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001]
        ) { fixture, _ in ["principal": .string("d/\(fixture.hub.front)"), "ttlSeconds": 60] },
        Row("token.createAPI", [0, 0, 0, 0, 0, 0, 0, 0, 0, 25001, 25001], plain(["ttlSeconds": 60])),
        Row(
            "token.createAPI", "for another",
            [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001],
            plain(["user": "bob", "ttlSeconds": 60])),
        Row(
            "token.createAPI", "for another principal",
            [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001],
            plain(["user": "u/bob", "ttlSeconds": 60])),
        Row("token.createAPI", "for a device", [0, 0, 0, 0, 0, 0, 8003, 0, 8003, 25001, 25001]) { fixture, _ in
            ["devices": [.string(fixture.hub.front.rawValue)], "ttlSeconds": 60]
        },
        Row("token.enrol", [0, 0, 0, 0, 0, 0, 0, 0, 0, 25001, 25001], plain([:])),
        Row(
            "token.enrol", "for another", [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001],
            plain(["user": "bob"])),
        Row(
            "token.enrol", "for another principal",
            [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001],
            plain(["user": "u/bob"])),
        Row("token.enrol", "for a device", [0, 8003, 8003, 8003, 8003, 8003, 8003, 8003, 0, 25001, 25001]) {
            fixture, _ in ["devices": [.string(fixture.hub.front.rawValue)]]
        },
        Row("token.list", [0, 0, 0, 0, 0, 0, 0, 0, 0, 25001, 25001], plain([:])),
        Row("token.revoke", [0, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001]) { fixture, _ in
            ["id": .string(fixture.ownerTokenID)]
        },
        Row("token.renew", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], plain([:])),
        Row("token.keys", [0, 0, 0, 0, 0, 0, 0, 0, 0, 25001, 25001], plain([:])),
        Row("token.check", [0, 0, 0, 0, 0, 0, 0, 0, 0, 25001, 25001]) { fixture, _ in
            ["token": .string(fixture.apiToken)]
        },

        Row("key.create", [0, 0, 0, 0, 0, 0, 0, 0, 0, 25001, 25001], plain(["name": "tv", "ttlSeconds": 60])),
        Row(
            "key.create", "for another", [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001],
            plain(["name": "tv", "user": "bob", "ttlSeconds": 60])),
        Row(
            "key.create", "for another principal",
            [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001],
            plain(["name": "tv", "user": "u/bob", "ttlSeconds": 60])),
        Row("key.create", "for a device", [0, 0, 0, 0, 0, 0, 8003, 0, 8003, 25001, 25001]) { fixture, _ in
            ["name": "tv", "devices": [.string(fixture.hub.front.rawValue)], "ttlSeconds": 60]
        },
        Row("key.list", [0, 0, 0, 0, 0, 0, 0, 0, 0, 25001, 25001], plain([:])),
        Row("key.revoke", [0, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001]) { fixture, _ in
            ["id": .string(fixture.ownerKeyID)]
        },
        Row("key.check", [0, 0, 0, 0, 0, 0, 0, 0, 0, 25001, 25001]) { fixture, _ in ["key": .string(fixture.key)] },
        Row("key.prove", [0, 0, 0, 0, 0, 0, 0, 0, 0, 25001, 25001]) { fixture, _ in KeyProof.made(with: fixture.key) },

        Row("property.read", [0, 0, 8003, 8003, 8003, 8003, 8003, 0, 8003, 25001, 25001], front(["path": ""])),
        // Refused for each device separately: see `eachDevice`.
        Row("property.readMany", [0, 0, 0, 0, 0, 0, 0, 0, 0, 25001, 25001]) { fixture, _ in
            ["devices": [.string(fixture.hub.front.rawValue)], "path": "ProWritable.quality"]
        },
        Row(
            "property.write", [0, 8003, 8003, 8003, 8003, 0, 8003, 8003, 8003, 25001, 25001],
            front(["path": "ProWritable.quality.setVal", "value": 1])),
        Row(
            "userProperty.add", [0, 8003, 8003, 8003, 8003, 0, 8003, 8003, 8003, 25001, 25001],
            front(["name": "x", "value": 1])),
        Row(
            "userProperty.delete", [0, 8003, 8003, 8003, 8003, 0, 8003, 8003, 8003, 25001, 25001], front(["name": "y"])),
        Row(
            "action.take", [0, 8003, 8003, 8003, 0, 8003, 8003, 8003, 8003, 25001, 25001],
            front(["path": "Action.cameraOn", "value": ["ctlVal": 0]])),
        Row(
            "message.send", [0, 8003, 8003, 8003, 0, 8003, 8003, 8003, 8003, 25001, 25001],
            front(["data": "aGk=", "responses": "one"])),
        Row("server.request", [0, 0, 0, 0, 0, 0, 0, 0, 0, 25001, 25001], plain(["path": "GET/time"])),
        Row("event.list", [0, 0, 8003, 8003, 8003, 8003, 8003, 0, 8003, 25001, 25001]),
        Row("event.delete", [0, 8003, 8003, 8003, 8003, 8003, 8003, 8003, 0, 25001, 25001], front(["before": 1])),

        Row(
            "call.token", "to view", [0, 0, 8003, 8003, 8003, 8003, 8003, 0, 8003, 25001, 25001],
            front(["kind": "monitor", "actions": ["view", "listen"]])),
        Row(
            "call.token", "to talk", [0, 8003, 0, 8003, 8003, 8003, 8003, 8003, 8003, 25001, 25001],
            front(["kind": "live", "actions": ["talk"]])),
        Row(
            "call.token", "to play recordings", [0, 8003, 8003, 0, 8003, 8003, 8003, 8003, 8003, 25001, 25001],
            front(["kind": "playback", "actions": ["playback"]])),
        Row(
            "call.token", "to view recordings", [0, 8003, 8003, 8003, 8003, 8003, 8003, 8003, 8003, 25001, 25001],
            front(["kind": "playback", "actions": ["view"]])),
        Row(
            "call.token", "to control", [0, 8003, 8003, 8003, 0, 8003, 8003, 8003, 8003, 25001, 25001],
            front(["kind": "transmission", "actions": ["control"]])),
        // With a token that was issued while the binding allowed more.
        Row("call.connect", [0, 0, 8003, 8003, 8003, 8003, 8003, 0, 8003, 25001, 25001]) { fixture, role in
            let device = fixture.hub.front
            let seconds = fixture.hub.time.seconds
            let claims = CallTokenClaims(
                sub: .device(device), from: fixture.address(role).principal, channel: .monitor,
                actions: [.view], jti: "c", iat: seconds, exp: seconds + 60)
            return [
                "device": .string(device.rawValue), "kind": "monitor", "session": "s",
                "token": .string(try fixture.hub.core.authority.sign(claims)),
            ]
        },
        Row("call.control", [0, 0, 0, 0, 0, 0, 8003, 0, 8003, 25001, 25001], peer),
        Row("call.trickle", [0, 0, 0, 0, 0, 0, 8003, 0, 8003, 0, 8003], peer),
        Row("call.end", [0, 0, 0, 0, 0, 0, 8003, 0, 8003, 0, 8003], peer),
        Row(
            "call.invite", [25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 0, 8003], peer),

        // A device may act only for itself.
        Row("model.login", [25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 0, 0]) { _, _ in
            try .sampleLogin()
        },
        Row(
            "model.report", [25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 0, 0],
            plain(["changes": []])),
        Row(
            "firmware.add", "malformed", [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 25140, 25001, 25001],
            plain(["manifest": "{}", "signature": .string(Base64.encode(Array(repeating: 0, count: 64)))])),
        Row("firmware.list", [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 0, 25001, 25001], plain([:])),
        Row(
            "firmware.show", "unknown", [25003, 25003, 25003, 25003, 25003, 25003, 25003, 25003, 25003, 25003, 25003],
            plain(["id": "x"])),
        Row(
            "firmware.remove", "unknown",
            [25005, 25005, 25005, 25005, 25005, 25005, 25005, 25005, 25003, 25001, 25001], plain(["id": "x"])),
        Row("firmware.query", [0, 0, 8003, 8003, 8003, 8003, 8003, 0, 8003, 0, 0]),
        Row(
            "model.applied", [25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 0, 0],
            plain(["path": "ProWritable.quality", "version": 1])),
        Row(
            "event.report", [25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 0, 0],
            plain(["topic": "motion", "body": [:]])),
        Row(
            "recording.report", "of the first owner",
            [25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 0, 8003],
            plain(["ownership": 1, "t": 1, "isRecorded": true, "days": 0, "precision": 1, "times": []])),
        // Nothing is reported.
        Row("recording.summary", [21039, 8003, 8003, 21039, 8003, 8003, 8003, 8003, 8003, 25001, 25001]),
        Row(
            "message.push", [25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 0, 0],
            plain(["data": "aGk="])),
        Row("net.token", [0, 0, 0, 0, 0, 0, 0, 8024, 0, 25001, 25001], plain([:])),
        Row(
            "net.show", [21101, 21101, 21101, 21101, 21101, 21101, 21101, 21101, 21101, 25001, 25001],
            plain(["id": "enrol-0123456789"])),
        Row(
            "net.claim", [25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 21100, 21100],
            plain(["token": "x"])),
        Row("lan.grant", [0, 0, 0, 0, 0, 0, 8003, 0, 8003, 25001, 25001]) { fixture, _ in
            [
                "device": .string(fixture.hub.front.rawValue),
                "key": .string(DeviceKey().publicKey.fingerprint.description),
            ]
        },
        Row(
            "lan.written", [25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 0, 8003],
            plain(["user": "u/owner", "path": "ProWritable.quality.setVal", "value": 3, "t": 1_600_000_000])),
        // For no session, only for an enrolment.
        Row(
            "enrol.exchange",
            [25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001, 25001], plain([:])),
    ]

    @Test("The table covers every link method")
    func complete() {
        #expect(Set(Self.rows.map(\.method)) == Set(HubMethods.all.rows.map(\.name)))
        #expect(Self.rows.allSatisfy { $0.codes.count == Role.allCases.count })
    }

    @Test("Every method gives every role the result in the table, and a refusal changes nothing", arguments: rows)
    func table(row: Row) throws {
        let fixture = try RightsFixture()
        for (role, code) in zip(Role.allCases, row.codes) {
            var fixture = fixture
            let params = try row.params(fixture, role)
            try check(&fixture, row, role, params, code)
        }
    }

    @Test("By name, a device exists only for accounts that are bound to it, and for administration", arguments: rows)
    func byName(row: Row) throws {
        let fixture = try RightsFixture()
        for (role, code) in zip(Role.allCases, row.codes) {
            var fixture = fixture
            var params = try row.params(fixture, role)
            guard params["device"] != nil else { continue }
            params["device"] = "front"
            let isHidden = code == 8003 && (role == .unbound || role == .administrator)
            try check(&fixture, row, role, params, isHidden ? 8002 : code)
        }
    }

    private func check(
        _ fixture: inout RightsFixture, _ row: Row, _ role: Role, _ params: JSONValue, _ code: Int
    ) throws {
        let before = fixture.digest
        let address = fixture.address(role)
        let sent = try fixture.hub.sendRequest(address, row.method, params)
        let replies = sent.filter { $0.address == address }.compactMap(\.replyCode)
        // A forwarded request is answered later.
        let found = replies.first?.rawValue ?? (sent.isEmpty ? -1 : 0)
        #expect(found == code, "\(row.testDescription) as \(role) with \(params)")
        if code != 0 {
            #expect(fixture.digest == before, "\(row.testDescription) as \(role): a refusal changed something")
            #expect(sent.count == 1, "\(row.testDescription) as \(role): someone else was notified of a refusal")
        } else if role == .otherDevice {
            #expect(fixture.digest.models[0] == before.models[0], "\(row.testDescription): another's model changed")
        }
    }

    @Test("Many devices are read, and events deleted, each by the caller's right to it")
    func eachDevice() throws {
        var fixture = try RightsFixture()
        let front = fixture.hub.front
        for role in Role.allCases where !role.isDevice {
            let reply = try fixture.hub.request(
                fixture.address(role), "property.readMany",
                ["devices": [.string(front.rawValue)], "path": "ProWritable.quality"])
            let reading = reply?.result["readings"]?.arrayValue?.first
            let mayView = [.owner, .view, .temporary].contains(role)
            #expect((reading?["value"] != nil) == mayView, "\(role)")
            #expect(reading?["code"] == (mayView ? nil : 8003), "\(role)")
            let listed = try fixture.hub.request(fixture.address(role), "event.list")
            #expect(listed?.result["events"] == [], "\(role)")
        }
    }

    // MARK: In another's name

    @Test("Only an administrator asks in another's name, and then has only that account's rights")
    func actingAs() throws {
        let base = try RightsFixture()
        let front = JSONValue.string(base.hub.front.rawValue)
        for role in Role.allCases where role != .administrator {
            var fixture = base
            let before = fixture.digest
            let code = try fixture.hub.request(
                fixture.address(role), "device.list", actingAs: .user(RightsFixture.bob))?.code
            #expect(code == .forbidden, "\(role)")
            #expect(fixture.digest == before)
        }
        var fixture = base
        let administrator = fixture.address(.administrator)
        let guest = fixture.address(.view).principal
        // The administrator may do in the guest's name what the guest may, but not what only administrators may.
        #expect(
            try fixture.hub.request(administrator, "device.show", ["device": front], actingAs: guest)?.code == .success)
        for (method, params): (String, JSONValue) in [
            ("property.write", ["device": front, "path": "ProWritable.quality.setVal", "value": 1]),
            ("device.remove", ["device": front]), ("device.bind", ["device": front, "user": "bob"]),
        ] {
            #expect(
                try fixture.hub.request(administrator, method, params, actingAs: guest)?.code == .relationInvalid)
        }
        for method in ["user.list", "token.renew"] {
            #expect(try fixture.hub.request(administrator, method, actingAs: guest)?.code == .forbidden, "\(method)")
        }
        let listed = try fixture.hub.request(administrator, "device.list", actingAs: guest)
        #expect(listed?.result["devices"]?.arrayValue?.count == 1)
        let nobody = Principal.user(AccessID(rawValue: "nobody")!)
        for name in [nobody, .device(fixture.hub.front)] {
            #expect(try fixture.hub.request(administrator, "device.list", actingAs: name)?.code == .targetNotFound)
        }
        // A forwarded request carries that name.
        let control = fixture.address(.control).principal
        let sent = try fixture.hub.sendRequest(
            administrator, "action.take", ["device": front, "path": "Action.cameraOn", "value": ["ctlVal": 0]],
            actingAs: control)
        let forwarded = try #require(sent.first?.request)
        #expect(forwarded.from == control)
        #expect(forwarded.params["origin"] == .string(control.description))
        let answered = try fixture.hub.send(fixture.hub.camera, .reply(LinkReply(id: forwarded.id, result: [:])))
        #expect(answered.contains { $0.address == administrator && $0.replyCode == .success })
    }
}
