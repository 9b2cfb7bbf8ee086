import Foundation
import GRDB
import IoTCore
import IoTLink
import NIOConcurrencyHelpers
import Testing
import ThingModel

@testable import LinkHub

@Suite("Rows that the hub cannot read", .timeLimit(.minutes(1)))
struct UnreadableRowTests {
    private static let front = String(repeating: "0f", count: 16)
    private static let frontID = DeviceID(rawValue: front)!
    private static let back = String(repeating: "1f", count: 16)

    /// A database as the first release left it, with an owner, two devices and these rows.
    private func database(_ directory: TemporaryDirectory, _ sql: String) throws -> String {
        let path = directory.path + "/hub.sqlite"
        let queue = try DatabaseQueue(path: path)
        try SQLiteHubStore.migrator.migrate(queue, upTo: "3")
        let schema = try ThingSchema.sample().vendorForm.jsonText
        try queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO users (id, created_at, kind) VALUES ('owner', 1, 'administrator');
                    INSERT INTO devices (id, name) VALUES ('\(Self.front)', 'front'), ('\(Self.back)', 'back');
                    INSERT INTO bindings (user, device, role, actions, since)
                        VALUES ('owner', '\(Self.front)', 'owner', '["view"]', 1);
                    INSERT INTO models (device, schema, version) VALUES ('\(Self.front)', '\(schema)', 20);
                    INSERT INTO properties (device, path, value, version) VALUES
                        ('\(Self.front)', 'ProUser.mine', '{"t":1,"val":"kept"}', 3),
                        ('\(Self.front)', 'ProWritable.quality', '{"setVal":7,"t":1}', 4);
                    """)
            try database.execute(sql: sql)
        }
        try queue.close()
        return path
    }

    /// What a start sets aside, and its initial state; a second start sets aside nothing.
    private func start(_ path: String) throws -> (state: HubState, reported: [String]) {
        let reported = NIOLockedValueBox<[String]>([])
        let store = try SQLiteHubStore(path: path) { row in
            reported.withLockedValue { $0.append("\(row.table) \(row.keyText)") }
        }
        let state = try store.load()
        store.close()
        let again = NIOLockedValueBox(0)
        let second = try SQLiteHubStore(path: path) { _ in again.withLockedValue { $0 += 1 } }
        _ = try second.load()
        second.close()
        #expect(again.withLockedValue { $0 } == 0)
        return (state, reported.withLockedValue { $0 })
    }

    private func setAside(_ path: String) throws -> [String] {
        try DatabaseQueue(path: path).read {
            try String.fetchAll($0, sql: "SELECT content FROM set_aside ORDER BY number")
        }
    }

    @Test("The row of a name that was cut off at its NUL does not prevent a start: it is set aside and reported")
    func nulInUserProperty() throws {
        let directory = TemporaryDirectory()
        let path = try database(
            directory,
            "INSERT INTO properties (device, path, value, version) VALUES ('\(Self.front)', 'ProUser.', '{\"t\":1,\"val\":0}', 5)"
        )
        let (state, reported) = try start(path)
        #expect(reported == [#"properties device="\#(Self.front)", path="ProUser.""#])
        let model = try #require(state.models[Self.frontID])
        #expect(try model.read("ProUser.mine.val").value == "kept")
        #expect(try model.read("ProWritable.quality.setVal").value == 7)
        // The statement inserts it again.
        let statement = try #require(try setAside(path).first)
        try DatabaseQueue(path: path).write { try $0.execute(sql: statement) }
        #expect(try start(path).reported.count == 1)
    }

    @Test("A schema with a NUL in a name is replaced by the empty one: users' data stays until the device returns")
    func nulInSchema() throws {
        let directory = TemporaryDirectory()
        let path = try database(
            directory,
            #"""
            UPDATE models SET schema = '{"DataDefs":[{"name":"a\u0000b","type":"int32","FC":"ProReadonly"}],"TypeDefs":[]}';
            INSERT INTO properties (device, path, value, version) VALUES ('\#(Self.front)', 'ProReadonly.a', '{"stVal":0,"t":0}', 1);
            """#)
        let (state, reported) = try start(path)
        #expect(
            Set(reported) == [
                #"models device="\#(Self.front)""#, #"properties device="\#(Self.front)", path="ProReadonly.a""#,
                #"properties device="\#(Self.front)", path="ProWritable.quality""#,
            ])
        let model = try #require(state.models[Self.frontID])
        #expect(model.schema == ThingSchema())
        #expect(model.version == 20)
        #expect(try model.read("ProUser.mine.val").value == "kept")
    }

    @Test(
        "If any row is damaged, the hub starts with all others",
        arguments: [
            "UPDATE users SET kind = 'king'", "UPDATE users SET device = 'nowhere'",
            "UPDATE bindings SET actions = '[', role = 'x'", "UPDATE devices SET name = 'Ä b' WHERE name = 'front'",
            "UPDATE devices SET id = 'short' WHERE name = 'back'", "UPDATE models SET version = -1, schema = 'x'",
            "UPDATE properties SET value = '{' WHERE path = 'ProUser.mine'", "UPDATE properties SET version = 21",
            "UPDATE properties SET path = 'Nothing.' || path",
            "UPDATE properties SET path = x'ff00' WHERE path = 'ProUser.mine'",
            "INSERT INTO tokens (id, principal, hash, salt, issued, expires, is_local) VALUES ('a', 'x/y', '', '', 1, 2, 0)",
            "INSERT INTO enrolments VALUES ('E', '', '', 'u/owner', NULL, '[]', 1, 2)",
            "INSERT INTO registrations VALUES ('u/owner', 'x', 'y')",
            "INSERT INTO calls VALUES ('d', 's', 'owner', 'u/owner', 'x', '[]', 1, 0)",
            "INSERT INTO answers (number, principal, request, answered_at, reply) VALUES (1, 'nobody', 'r', 1, x'00')",
        ])
    func anyRow(sql: String) throws {
        let directory = TemporaryDirectory()
        let path = try database(directory, "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; " + sql)
        let (_, reported) = try start(path)
        #expect(!reported.isEmpty)
        #expect(try setAside(path).count >= reported.count)
    }

    @Test("A device with an invalid name keeps all its data under another name")
    func badDeviceName() throws {
        let directory = TemporaryDirectory()
        let path = try database(directory, "UPDATE devices SET name = 'a' || char(9) WHERE name = 'front'")
        let (state, reported) = try start(path)
        let front = Self.frontID
        #expect(reported == [#"devices id="\#(Self.front)""#])
        #expect(state.devices[front]?.name == "device-0f0f0f0f0f0f")
        #expect(state.models[front] != nil)
        #expect(state.bindings.owner(of: front) != nil)
    }

    @Test("The rows of an account that is set aside are set aside with it, as statements that insert them again")
    func dependents() throws {
        let directory = TemporaryDirectory()
        let path = try database(directory, "UPDATE users SET kind = 'king'")
        let (state, _) = try start(path)
        #expect(state.users.isEmpty)
        #expect(state.bindings.owner(of: Self.frontID) == nil)
        #expect(try setAside(path).count { $0.hasPrefix("INSERT INTO bindings") } == 1)
    }

    @Test("A text with a NUL is not stored, and only its own turn fails", arguments: ["a\u{0}b", "\u{0}"])
    func nulIsRefused(text: String) throws {
        let store = try SQLiteHubStore(path: nil)
        let user = try #require(AccessID(rawValue: "owner"))
        try store.commit([[.putUser(user, UserRecord(kind: .member, created: 1))]])
        let failure = #expect(throws: CommitFailure.self) {
            try store.commit([[.putDevice(.random(), DeviceRecord(name: text))]])
        }
        #expect(failure?.error.code == .storeFailed)
        #expect(failure?.isOfStore == false, "the other turns can be stored")
        let state = try store.load()
        #expect(state.users.count == 1)
        #expect(state.devices.isEmpty)
    }

    @Test(
        "No request can create a name with a control character, in a user property or a schema",
        arguments: ["\u{0}x", "a\u{0}b", "a\nb", "\u{7F}", "\u{85}", "\u{2028}"])
    func requests(name: String) async throws {
        let directory = TemporaryDirectory()
        let hub = try InProcessHub(directory: directory)
        let (owner, devices) = try await hub.prepare()
        let target = JSONValue.string(devices[0].rawValue)
        let added = try await hub.request(
            owner, "userProperty.add", ["device": target, "name": .string(name), "value": 1])
        #expect(added.code == .pathInvalid)
        let written = try await hub.request(
            owner, "property.write", ["device": target, "path": .string("ProUser." + name), "value": ["val": 1]])
        #expect(written.code == .pathInvalid)
        let camera = LinkAddress.random(.device(devices[0]))
        _ = try await hub.request(camera, "session.begin")
        let login = try await hub.request(
            camera, "model.login",
            ["schema": ["DataDefs": [["name": .string(name), "type": "int32", "FC": "ProReadonly"]]]])
        #expect(login.code == .valueInvalid)
        let value = try await hub.request(
            owner, "userProperty.add", ["device": target, "name": "text", "value": .string("a" + name)])
        #expect(value.code == .success, "a value may contain it")
        await hub.stop()
        let next = try InProcessHub(directory: directory)
        let (again, _) = try await next.prepare()
        let read = try await next.request(again, "property.read", ["device": target, "path": "ProUser.text.val"])
        #expect(read.result["value"] == .string("a" + name), "and it is stored whole")
        await next.stop()
    }
}
