import GRDB
import IoTCore
import IoTLink
import NIOConcurrencyHelpers
import Testing
import ThingModel

@testable import LinkHub

/// Swift treats the two as the same text, SQLite does not.
private let composed = "caf\u{E9}"
private let decomposed = "cafe\u{301}"

@Suite("Names in different Unicode forms", .timeLimit(.minutes(1)))
struct NameFormTests {
    private func rows(_ directory: TemporaryDirectory, like pattern: String) throws -> Int? {
        try DatabaseQueue(path: directory.path + "/hub.sqlite").read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM properties WHERE path LIKE ?", arguments: [pattern])
        }
    }

    @Test(
        "What was acknowledged under either form of a name is there after a restart",
        arguments: [(composed, decomposed), (decomposed, composed)])
    func userProperty(first: String, second: String) async throws {
        let directory = TemporaryDirectory()
        var hub = try InProcessHub(directory: directory)
        var (owner, devices) = try await hub.prepare()
        let target = JSONValue.string(devices[0].rawValue)
        func add(_ name: String, _ value: JSONValue) -> JSONValue {
            ["device": target, "name": .string(name), "value": value]
        }
        #expect(try await hub.request(owner, "userProperty.add", add(first, 1)).code == .success)
        #expect(try await hub.request(owner, "userProperty.add", add(second, 2)).code == .success)
        let path = JSONValue.string("ProUser.\(second).val")
        #expect(
            try await hub.request(owner, "property.write", ["device": target, "path": path, "value": 3]).code
                == .success)
        #expect(try rows(directory, like: "ProUser.caf%") == 1)
        for _ in 0..<2 {
            await hub.stop()
            hub = try InProcessHub(directory: directory)
            (owner, devices) = try await hub.prepare()
            for name in [first, second] {
                let read = try await hub.request(
                    owner, "property.read", ["device": target, "path": .string("ProUser.\(name).val")])
                #expect(read.result["value"] == 3)
            }
        }
        #expect(
            try await hub.request(owner, "userProperty.delete", ["device": target, "name": .string(second)]).code
                == .success)
        await hub.stop()
        hub = try InProcessHub(directory: directory)
        (owner, devices) = try await hub.prepare()
        let gone = try await hub.request(
            owner, "property.read", ["device": target, "path": .string("ProUser.\(first).val")])
        #expect(gone.code == .pathInvalid)
        await hub.stop()
    }

    @Test("A setting is written and applied under either form of its name, and stays so after a restart")
    func setting() async throws {
        let directory = TemporaryDirectory()
        var hub = try InProcessHub(directory: directory)
        var (owner, devices) = try await hub.prepare()
        let target = JSONValue.string(devices[0].rawValue)
        let login = ModelLogin(
            schema: try ThingSchema([.writable(composed, .int32)]), constants: [:], readonly: [:], writableVersions: [:]
        )
        var camera = LinkAddress.random(.device(devices[0]))
        _ = try await hub.request(camera, "session.begin")
        #expect(try await hub.request(camera, "model.login", login.json).code == .success)
        let written = try await hub.request(
            owner, "property.write",
            ["device": target, "path": .string("ProWritable.\(decomposed).setVal"), "value": 5])
        let version = try #require(written.result["version"])
        let applied = try await hub.request(
            camera, "model.applied", ["path": .string("ProWritable.\(decomposed)"), "version": version])
        #expect(applied.code == .success)
        #expect(try rows(directory, like: "ProWritable.caf%") == 1)
        await hub.stop()
        hub = try InProcessHub(directory: directory)
        owner = LinkAddress.random(owner.principal)
        _ = try await hub.request(owner, "session.begin")
        let shown = try await hub.request(owner, "device.show", ["device": target])
        #expect(shown.result["model"]?["ProWritable"]?[composed]?["setVal"] == 5)
        #expect(shown.result["pending"]?.arrayValue?.contains(.string("ProWritable.\(composed)")) == false)
        camera = LinkAddress.random(camera.principal)
        _ = try await hub.request(camera, "session.begin")
        await hub.stop()
    }

    @Test("A name that begins with a combining mark is deleted for good, and its setting reaches the device")
    func leadingMark() async throws {
        let directory = TemporaryDirectory()
        let name = "\u{301}x"
        let hub = try InProcessHub(directory: directory)
        let (owner, devices) = try await hub.prepare()
        let target = JSONValue.string(devices[0].rawValue)
        let params: JSONValue = ["device": target, "name": .string(name), "value": 1]
        #expect(try await hub.request(owner, "userProperty.add", params).code == .success)
        #expect(try await hub.request(owner, "userProperty.delete", params).code == .success)
        let hidden = try await hub.request(
            owner, "userProperty.add", ["device": target, "name": "_\u{301}", "value": 1])
        #expect(hidden.code == .reservedPropertyName)
        await hub.stop()
        let next = try InProcessHub(directory: directory)
        let (again, _) = try await next.prepare()
        let read = try await next.request(
            again, "property.read", ["device": target, "path": .string("ProUser.\(name)")])
        #expect(read.code == .pathInvalid)
        await next.stop()
    }

    @Test("If an earlier version stored two rows of one name, the newer one is used, and the other is set aside")
    func bothForms() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/hub.sqlite"
        let queue = try DatabaseQueue(path: path)
        try SQLiteHubStore.migrator.migrate(queue, upTo: "3")
        let device = DeviceID.random()
        try queue.write { database in
            try database.execute(
                sql: "INSERT INTO devices (id, name) VALUES (?, 'front')", arguments: [device.rawValue])
            try database.execute(
                sql: "INSERT INTO models (device, schema, version) VALUES (?, '{}', 9)", arguments: [device.rawValue])
            for (name, version) in [(decomposed, 9), (composed, 4), ("other", 5)] {
                try database.execute(
                    sql: "INSERT INTO properties (device, path, value, version) VALUES (?, ?, ?, ?)",
                    arguments: [device.rawValue, "ProUser." + name, "{\"t\":1,\"val\":\(version)}", version])
            }
        }
        try queue.close()
        let reported = NIOLockedValueBox<[UnreadableRow]>([])
        let store = try SQLiteHubStore(path: path) { row in reported.withLockedValue { $0.append(row) } }
        var state = try store.load()
        #expect(try state.models[device]?.read("ProUser.\(composed).val").value == 9)
        #expect(reported.withLockedValue { $0 }.map { $0.key.last } == ["ProUser.\(composed)".databaseValue])
        // From now on there is only one row.
        let change = try #require(try state.models[device]?.addUserProperty(composed, 10, at: 2))
        try store.commit([[.writeProperty(device, change), .modelVersion(device, change.version)]])
        state = try store.load()
        #expect(try state.models[device]?.read("ProUser.\(decomposed).val").value == 10)
        #expect(reported.withLockedValue { $0 }.count == 1)
        store.close()
    }
}
