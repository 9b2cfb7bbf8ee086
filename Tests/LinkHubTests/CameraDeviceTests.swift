import GRDB
import IoTCore
import IoTLink
import Testing
import ThingModel

@testable import LinkHub

@Suite("Devices of this daemon's cameras")
struct CameraDeviceTests {
    private let anna = AccessID(rawValue: "anna")!

    @Test("A camera keeps its device over renames and restarts, even if a member's device gets the camera's name")
    func renamed() async throws {
        let directory = TemporaryDirectory()
        let (front, hers) = try await withHub(in: directory) { hub in
            let front = try await hub.ensureDevice(name: "front").device
            try await hub.createUser(anna)
            let hers = try await hub.createDevice(name: "hers").device
            try await hub.bind(anna, to: hers, role: .owner)
            try await hub.renameDevice(front, to: "door")
            try await hub.renameDevice(hers, to: "front")
            #expect(try await hub.ensureDevice(name: "front").device == front)
            return (front, hers)
        }
        let (device, names) = try await withHub(in: directory) { hub in
            (try await hub.ensureDevice(name: "front").device, try await hub.deviceNames())
        }
        #expect(device == front && names == ["door": front, "front": hers])
    }

    @Test("A camera with a name that is taken gets a new device, under the first free name")
    func nameTaken() throws {
        var hub = try CoreFixture()
        let owner = hub.owner.principal.accessID!
        let time = hub.time
        for (camera, name) in [("front", "front-2"), ("back", "back-2"), ("yard", "yard")] {
            let device = try hub.core.ensureDevice(camera: camera, owner: owner, at: time)
            #expect(hub.core.state.devices[device]?.name == name)
            #expect(hub.core.state.bindings.owner(of: device) == owner)
            #expect(try hub.core.ensureDevice(camera: camera, owner: owner, at: time) == device)
        }
        let long = String(repeating: "x", count: 64)
        for number in 1...11 {
            _ = try hub.core.addDevice(named: number == 1 ? long : String(repeating: "x", count: 62) + "-\(number)")
            if number == 9 { break }
        }
        let device = try hub.core.ensureDevice(camera: long, owner: owner, at: time)
        #expect(hub.core.state.devices[device]?.name == String(repeating: "x", count: 61) + "-10")
    }

    @Test("Lists and details show the state of a camera's source and since when; other devices show none")
    func source() throws {
        var hub = try CoreFixture()
        for address in [hub.owner, hub.camera] { _ = try hub.request(address, "session.begin") }
        func summary() throws -> JSONValue? {
            try hub.request(hub.owner, "device.list")?.result["devices"]?.arrayValue?.first?["source"]
        }
        #expect(try summary() == nil)
        let schema = try ThingSchema([
            .readonly("source", .string(16, allowed: ["connecting", "ready", "failed"])),
            .readonly("sourceFailure", .structure("F", [.init("code", .int32), .init("reason", .string(256))])),
            .action("cameraOn", .int32(0...1, default: 1)),
        ])
        let values: [String: JSONValue] = [
            "source": ["stVal": "failed", "t": 7],
            "sourceFailure": ["stVal": ["code": 25040, "reason": "no"], "t": 7], "cameraOn": ["stVal": 1, "t": 5],
        ]
        let login = ModelLogin(schema: schema, constants: [:], readonly: values, writableVersions: [:])
        #expect(try hub.request(hub.camera, "model.login", login.json)?.code == .success)
        #expect(try summary() == ["state": "failed", "since": 7, "code": 25040])
        let front: JSONValue = ["device": "front"]
        #expect(try hub.request(hub.owner, "device.show", front)?.result["source"]?["code"] == 25040)
        func report(_ path: String, _ value: JSONValue) throws {
            let change: JSONValue = ["path": .string("ProReadonly.\(path).stVal"), "value": value]
            #expect(try hub.request(hub.camera, "model.report", ["changes": [change]])?.code == .success)
        }
        try report("source", "ready")
        let now = hub.time.seconds
        #expect(try summary() == ["state": "ready", "since": .integer(now)])
        try report("cameraOn", 0)
        #expect(try summary() == ["state": "off", "since": .integer(now)])
    }

    @Test("A camera with a removed device gets a new one")
    func removed() throws {
        var hub = try CoreFixture()
        let owner = hub.owner.principal.accessID!
        let time = hub.time
        let first = try hub.core.ensureDevice(camera: "yard", owner: owner, at: time)
        try hub.core.removeDevice(first, at: time)
        let second = try hub.core.ensureDevice(camera: "yard", owner: owner, at: time)
        #expect(first != second && hub.core.state.names["yard"] == second)
    }

    @Test("An older database: cameras keep their devices, but not one that a member had renamed to a camera's name")
    func migration() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/hub.sqlite"
        let queue = try DatabaseQueue(path: path)
        try SQLiteHubStore.migrator.migrate(queue, upTo: "3")
        let names = ["front", "given", "renamed", "remote", "moved"]
        let ids = Dictionary(uniqueKeysWithValues: names.map { ($0, DeviceID.random()) })
        try await queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO users (id, created_at, kind) VALUES ('owner', 5, 'administrator'), ('anna', 6, 'member');
                    """)
            func token(_ device: String, isLocal: Bool) throws {
                try database.execute(
                    sql: """
                        INSERT INTO tokens (id, principal, hash, salt, issued, expires, is_local, kind)
                        VALUES (?, ?, 'aGFzaA==', 'c2FsdA==', 1, 2, ?, 'link')
                        """, arguments: ["\(device)-\(isLocal)", "d/\(ids[device]!)", isLocal])
            }
            for (name, id) in ids {
                let owner = ["given", "renamed"].contains(name) ? "anna" : "owner"
                try database.execute(
                    sql: "INSERT INTO devices (id, name) VALUES (?, ?)", arguments: [id.rawValue, name])
                try database.execute(
                    sql: "INSERT INTO bindings (user, device, role, actions) VALUES (?, ?, 'owner', '[\"view\"]')",
                    arguments: [owner, id.rawValue])
                if name != "remote" { try token(name, isLocal: true) }
                // The tokens of a member's own device, and of a device that joined from another box.
                if ["renamed", "remote", "moved"].contains(name) { try token(name, isLocal: false) }
            }
        }
        try queue.close()
        let state = try SQLiteHubStore(path: path).load()
        #expect(state.cameras == ids.filter { ["front", "given", "moved"].contains($0.key) })
    }

    // MARK: Enrolments

    private func enrol(_ hub: inout CoreFixture, _ params: JSONValue) throws -> LinkReply? {
        let administrator = hub.owner.principal.accessID!
        let time = hub.time
        try hub.core.ensureAdministrator(administrator, at: time)
        return try hub.request(hub.owner, "token.enrol", params)
    }

    @Test("token.enrol and a provisioning token refuse the name of another account's device with 25018")
    func enrolByName() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let time = hub.time
        let back = hub.back
        try hub.core.bind(hub.stranger.principal.accessID!, back, .owner, at: time)
        let refused = try enrol(&hub, ["devices": ["front", "back"]])
        #expect(refused?.code == .nameTaken)
        #expect(refused?.remedy?.contains(back.rawValue) == true, "the remedy says how to name that device")
        #expect(hub.core.state.enrolments.isEmpty)
        let data = try MessageData(Array(#"{"device":"back"}"#.utf8)).json
        let provision: JSONValue = ["path": "GET/NetCfg_Token", "data": data]
        #expect(try hub.request(hub.owner, "server.request", provision)?.code == .nameTaken)
        #expect(try enrol(&hub, ["devices": [.string(back.rawValue)]])?.code == .success)
        #expect(try enrol(&hub, ["user": "stranger", "devices": ["back"]])?.code == .success, "it has that owner")
    }

    @Test("A box gets its devices under the names that they had at the enrolment, even after a rename")
    func enrolledNames() async throws {
        let directory = TemporaryDirectory()
        let front = try await withHub(in: directory) { hub in
            let front = try await hub.ensureDevice(name: "front").device
            _ = try await hub.enrol(user: nil, devices: [front])
            try await hub.renameDevice(front, to: "door")
            return front
        }
        let state = try SQLiteHubStore(path: directory.path + "/hub.sqlite").load()
        let names = state.enrolments.values.map(\.names)
        #expect(names == [[front: "front"]])

        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let made = try enrol(&hub, ["devices": ["front"]])
        let id = try #require(made?.result["id"]?.stringValue)
        let time = hub.time
        let device = hub.front
        try hub.core.renameDevice(device, to: "door", at: time)
        let box = LinkAddress.random(try #require(Principal(kind: .enrolment, id: id)))
        let devices = try hub.request(box, "enrol.exchange")?.result["devices"]?.arrayValue
        #expect(devices?.first?["name"] == "front")
    }
}
