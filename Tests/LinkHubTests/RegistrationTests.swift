import GRDB
import IoTCore
import IoTLink
import Testing

@testable import LinkHub

@Suite("What a restart must keep", .timeLimit(.minutes(1)))
struct RegistrationTests {
    @Test("A session that was taken over cannot replace the newer one, also after a restart of the hub")
    func superseded() async throws {
        let directory = TemporaryDirectory()
        var hub = try InProcessHub(directory: directory)
        let (old, _) = try await hub.prepare()
        let new = LinkAddress.random(old.principal)
        #expect(try await hub.request(new, "session.begin").code == .success)
        await hub.stop()

        hub = try InProcessHub(directory: directory)
        // The old session returns first.
        let refused = try await hub.request(old, "session.begin")
        #expect(refused.code == .linkUnavailable)
        #expect(try await hub.request(new, "session.begin").code == .success)
        #expect(try await hub.request(old, "session.begin").code == .linkUnavailable)
        // A session newer than both takes over, although the hub never saw it together with the others.
        await hub.stop()
        hub = try InProcessHub(directory: directory)
        let newest = LinkAddress.random(old.principal)
        #expect(try await hub.request(newest, "session.begin").code == .success)
        #expect(try await hub.request(new, "session.begin").code == .linkUnavailable)
        #expect(try await hub.request(newest, "device.list").code == .success)
        await hub.stop()
    }

    @Test("A device that was online when the hub was killed is offline until it returns, in its model too")
    func presence() async throws {
        let directory = TemporaryDirectory()
        var hub = try InProcessHub(directory: directory)
        let (owner, devices) = try await hub.prepare()
        let camera = LinkAddress.random(.device(devices[0]))
        #expect(try await hub.request(camera, "session.begin").code == .success)
        let path = "ProReadonly._online.stVal"
        func read() async throws -> [JSONValue?] {
            #expect(try await hub.request(owner, "session.begin").code == .success)
            let shown = try await hub.request(owner, "device.show", ["device": "front"])
            let stored = try await hub.request(owner, "property.read", ["device": "front", "path": .string(path)])
            return [shown.result["online"], stored.result["value"]]
        }
        #expect(try await read() == [true, 1])
        await hub.stop()

        hub = try InProcessHub(directory: directory)
        #expect(try await read() == [false, 0])
        #expect(try await hub.request(camera, "session.begin").code == .success)
        #expect(try await read() == [true, 1])
        await hub.stop()
    }

    @Test("A bounded number of earlier sessions is remembered, without the newest")
    func bounded() {
        var registration = Registration(session: "0")
        var isNew = [registration.begin("0")]
        for number in 1...100 { isNew.append(registration.begin("\(number)")) }
        #expect(isNew == [false] + Array(repeating: true, count: 100))
        #expect(registration.session == "100")
        #expect(registration.superseded == (68...99).map(String.init))
    }

    @Test("Accounts, rights, tokens, enrolments and calls are the same after a restart")
    func everything() async throws {
        let directory = TemporaryDirectory()
        var hub = try InProcessHub(directory: directory)
        let (owner, devices) = try await hub.prepare(devices: ["front", "back"])
        let bob = AccessID(rawValue: "bob")!
        let front = devices[0]
        try await hub.service.perform { core, time throws(IoTError) in
            try core.ensureAdministrator(owner.principal.accessID!, at: time)
            try core.addUser(bob, at: time)
            try core.bind(bob, front, .guest, [.view, .talk], at: time)
            _ = try core.issueToken(.user(bob), lifetime: 600, at: time)
            core.open(
                OpenCall(
                    key: OpenCall.Key(device: front, session: "c"), user: bob, asker: .random(.user(bob)),
                    needs: [.view, .talk], opened: time.wall, ending: [.device]))
        }
        _ = try await hub.request(
            owner, "token.createAPI", ["devices": ["front"], "actions": ["view"], "ttlSeconds": 600])
        _ = try await hub.request(owner, "user.createTemporary", ["device": "back", "ttlSeconds": 600])
        let before = try await hub.service.perform { core, _ throws(IoTError) in core.state }
        await hub.stop()
        hub = try InProcessHub(directory: directory)
        let after = try await hub.service.perform { core, _ throws(IoTError) in core.state }
        #expect(after.users == before.users && after.devices == before.devices)
        for device in devices {
            #expect(after.bindings.users(of: device) == before.bindings.users(of: device))
            #expect(after.bindings.owner(of: device) == before.bindings.owner(of: device))
            #expect(after.calls.of(device) == before.calls.of(device))
        }
        #expect(Set(after.tokens.values) == Set(before.tokens.values) && !after.tokens.values.isEmpty)
        #expect(after.tokens.nextExpiry == before.tokens.nextExpiry)
        #expect(after.enrolments == before.enrolments)
        #expect(after.registrations == before.registrations && !after.registrations.isEmpty)
        #expect(after.calls.endings(for: .device(front)).count == 1)
        await hub.stop()
    }

    @Test("A database of the first version is migrated: owners keep all rights, and one of several stays the owner")
    func migration() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/hub.sqlite"
        let queue = try DatabaseQueue(path: path)
        try SQLiteHubStore.migrator.migrate(queue, upTo: "1")
        let device = DeviceID.random()
        try await queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO users (id, created_at) VALUES ('owner', 5), ('anna', 6), ('guest', 7);
                    INSERT INTO devices (id, name) VALUES ('\(device)', 'front');
                    INSERT INTO bindings (user, device, role) VALUES
                        ('anna', '\(device)', 'owner'), ('owner', '\(device)', 'owner'), ('guest', '\(device)', 'guest');
                    INSERT INTO tokens (id, principal, hash, salt, issued, expires, is_local)
                        VALUES ('t', 'u/owner', 'aGFzaA==', 'c2FsdA==', 1, 2, 0);
                    """)
        }
        try queue.close()
        let state = try SQLiteHubStore(path: path).load()
        #expect(state.users.values.allSatisfy { $0.kind == .member })
        let bindings = state.bindings.users(of: device)
        #expect(state.bindings.owner(of: device)?.rawValue == "owner")
        #expect(
            bindings.mapValues(\.actions) == [
                AccessID(rawValue: "owner")!: .all, AccessID(rawValue: "anna")!: .all,
                AccessID(rawValue: "guest")!: .view,
            ])
        #expect(state.tokens["t"]?.kind == .link && state.tokens["t"]?.credential?.hash == "aGFzaA==")
    }
}
