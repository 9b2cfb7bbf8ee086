import GRDB
import IoTCore
import IoTLink
import NIOConcurrencyHelpers
import NIOCore
import Testing
import ThingModel

@testable import LinkHub

@Suite("Events of devices in the store", .timeLimit(.minutes(2)))
struct HubEventTests {
    private struct Fixture {
        let directory = TemporaryDirectory()
        let hub: InProcessHub
        let owner: LinkAddress
        let devices: [DeviceID]
        let cameras: [LinkAddress]

        init(onDeliver: @escaping @Sendable ([HubOutput]) -> Void = { _ in }) async throws {
            hub = try InProcessHub(directory: directory, onDeliver: onDeliver)
            (owner, devices) = try await hub.prepare(devices: ["front", "side"])
            cameras = devices.map { LinkAddress.random(.device($0)) }
            for camera in cameras { _ = try await hub.request(camera, "session.begin") }
        }

        @discardableResult
        func report(
            _ camera: Int = 0, _ topic: String = "EVENT_CAM/Motion", _ body: JSONValue = 1, t: Int64? = nil,
            id: String = RequestID.random()
        ) async throws -> LinkReply {
            var params: JSONValue = ["topic": .string(topic), "body": body]
            params["t"] = t.map { .integer($0) }
            return try await hub.request(cameras[camera], "event.report", params, id: id)
        }

        func list(_ params: JSONValue = [:]) async throws -> EventPage {
            try EventMethod.list.result(try await hub.request(owner, "event.list", params).outcome.get())
        }
    }

    @Test("When the answer leaves, another connection to the database reads the event")
    func durable() async throws {
        let path = NIOLockedValueBox<String?>(nil)
        let missing = NIOLockedValueBox(0)
        let seen = NIOLockedValueBox(0)
        let fixture = try await Fixture { outputs in
            guard let path = path.withLockedValue({ $0 }), let reader = try? DatabaseQueue(path: path) else { return }
            for case .message(_, let payload) in outputs {
                guard case .reply(let reply)? = try? Envelope(parsing: payload),
                    let id = reply.result["id"]?.integerValue
                else { continue }
                let count = try? reader.read {
                    try Int.fetchOne($0, sql: "SELECT count(*) FROM events WHERE number = ?", arguments: [id])
                }
                seen.withLockedValue { $0 += 1 }
                if count != 1 { missing.withLockedValue { $0 += 1 } }
            }
        }
        path.withLockedValue { $0 = fixture.directory.path + "/hub.sqlite" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<64 { group.addTask { try await fixture.report() } }
            try await group.waitForAll()
        }
        #expect(seen.withLockedValue { $0 } == 64)
        #expect(missing.withLockedValue { $0 } == 0)
        await fixture.hub.stop()
    }

    @Test("A repeated report is one event, also after a restart; numbers are never reused")
    func repeated() async throws {
        let fixture = try await Fixture()
        let first = try await fixture.report(id: "same")
        #expect(try await fixture.report(id: "same") == first)
        let second = try await fixture.report().result["id"]?.integerValue
        #expect(try await fixture.list().events.count == 2)
        let deleted = try await fixture.hub.request(
            fixture.owner, "event.delete", ["ids": [.integer(second ?? 0)]])
        #expect(deleted.result["deleted"] == 1)
        await fixture.hub.stop()

        let reopened = try InProcessHub(directory: fixture.directory)
        _ = try await reopened.request(fixture.cameras[0], "session.begin")
        let params: JSONValue = ["topic": "EVENT_CAM/Motion", "body": 1]
        #expect(try await reopened.request(fixture.cameras[0], "event.report", params, id: "same") == first)
        let third = try await reopened.request(fixture.cameras[0], "event.report", params)
        #expect(third.result["id"] == .integer((second ?? 0) + 1))
        await reopened.stop()
    }

    @Test("Lists are newest first, by device, topic, time and page")
    func list() async throws {
        let fixture = try await Fixture()
        let now = HubTime.now().wall
        for index in 0..<10 {
            try await fixture.report(
                index % 2, index < 5 ? "EVENT_CAM/Motion" : "EVENT_DOOR/Bell", .integer(Int64(index)),
                t: now - Int64(100 - index) * 1_000)
        }
        func bodies(_ params: JSONValue) async throws -> [JSONValue] {
            try await fixture.list(params).events.map(\.body)
        }
        #expect(try await bodies([:]) == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
        #expect(try await bodies(["device": "front"]) == [8, 6, 4, 2, 0])
        #expect(try await bodies(["device": "side", "topic": "EVENT_DOOR"]) == [9, 7, 5])
        #expect(try await bodies(["topic": "EVENT_CAM/"]) == [4, 3, 2, 1, 0])
        #expect(
            try await bodies(["from": .integer(now - 97_000), "to": .integer(now - 95_000)]) == [5, 4, 3])
        for device: JSONValue in [.null, "front"] {
            var paged: [JSONValue] = []
            var page = try await fixture.list(["limit": 2, "device": device])
            while true {
                paged += page.events.map(\.body)
                guard let next = page.next else { break }
                page = try await fixture.list(["limit": 2, "device": device, "before": .integer(next)])
            }
            #expect(paged == (device == .null ? [9, 8, 7, 6, 5, 4, 3, 2, 1, 0] : [8, 6, 4, 2, 0]))
        }
        for wrong: JSONValue in [
            ["limit": 0], ["limit": 201], ["from": 2, "to": 1], ["topic": "a b"], ["before": "x"],
        ] {
            #expect(try await fixture.hub.request(fixture.owner, "event.list", wrong).code == .invalidRequest)
        }
        await fixture.hub.stop()
    }

    @Test("A page of large events ends when its envelope is full, and the next page continues there")
    func largePage() async throws {
        let fixture = try await Fixture()
        let body = JSONValue.string(String(repeating: "x", count: 29_000))
        for _ in 0..<20 { #expect(try await fixture.report(0, "a", body).code == .success) }
        var count = 0
        var pages = 0
        var before: JSONValue = .null
        while true {
            let page = try await fixture.list(["before": before])
            count += page.events.count
            pages += 1
            guard let next = page.next else { break }
            before = .integer(next)
        }
        #expect(count == 20)
        #expect(pages > 1)
        await fixture.hub.stop()
    }

    @Test("Topics and bodies have bounds, and EVENT_SYS is for the hub; a wrong clock is not used")
    func bounds() async throws {
        let fixture = try await Fixture()
        for topic in ["", "a b", "ä", String(repeating: "a", count: 129), "EVENT_SYS/Mine"] {
            #expect(try await fixture.report(0, topic).code == .invalidRequest, "\(topic)")
        }
        #expect(try await fixture.report(0, String(repeating: "a", count: 128)).code == .success)
        let fits = JSONValue.string(String(repeating: "x", count: 29_998))
        #expect(try await fixture.report(0, "a", fits).code == .success)
        let long = JSONValue.string(String(repeating: "x", count: 29_999))
        #expect(try await fixture.report(0, "a", long).code == .messageTooLong)
        for t: Int64 in [.min, 0, .max] {
            let start = HubTime.now().wall
            try await fixture.report(0, "clock", t: t)
            let event = try #require(try await fixture.list(["topic": "clock"]).events.first)
            #expect(event.t >= start)
        }
        await fixture.hub.stop()
    }

    @Test("Owners delete by id, or by device, topic and time; others may not, and learn nothing")
    func delete() async throws {
        let fixture = try await Fixture()
        let guest = AccessID(rawValue: "guest")!
        let stranger = AccessID(rawValue: "stranger")!
        let front = fixture.devices[0]
        try await fixture.hub.service.perform { core, time throws(IoTError) in
            try core.addUser(guest, at: time)
            try core.addUser(stranger, at: time)
            try core.bind(guest, front, .guest, at: time)
        }
        let others = [guest, stranger].map { LinkAddress.random(.user($0)) }
        for other in others { _ = try await fixture.hub.request(other, "session.begin") }
        var ids: [JSONValue] = []
        for index in 0..<6 {
            ids.append(try await fixture.report(0, index < 3 ? "a/x" : "b/x").result["id"] ?? .null)
        }
        let some: JSONValue = ["ids": .array(Array(ids[0..<2]) + [999_999])]
        #expect(try await fixture.hub.request(others[0], "event.delete", some).code == .relationInvalid)
        #expect(try await fixture.hub.request(others[1], "event.delete", some).result["deleted"] == 0)
        #expect(try await fixture.hub.request(fixture.owner, "event.delete", some).result["deleted"] == 2)
        let before = JSONValue.integer(HubTime.now().wall + 1_000)
        let range: JSONValue = ["device": "front", "topic": "b", "before": before]
        #expect(try await fixture.hub.request(others[0], "event.delete", range).code == .relationInvalid)
        #expect(try await fixture.hub.request(others[1], "event.delete", range).code == .targetNotFound)
        #expect(try await fixture.hub.request(fixture.owner, "event.delete", range).result["deleted"] == 3)
        #expect(try await fixture.list().events.map(\.topic) == ["a/x"])
        #expect(try await fixture.hub.request(others[1], "event.list").result["events"] == [])
        #expect(try await fixture.hub.request(others[1], "event.list", ["device": "front"]).code == .targetNotFound)
        // A device is removed with its events.
        try await fixture.hub.service.perform { core, time throws(IoTError) in try core.removeDevice(front, at: time) }
        let total = try await fixture.hub.service.perform { core, _ throws(IoTError) in core.state.events.total }
        #expect(total == 0)
        await fixture.hub.stop()
    }

    @Test("Past 10,000 a device's oldest event is deleted; events older than 30 days are deleted in steps; others stay")
    func kept() async throws {
        let fixture = try await Fixture()
        await fixture.hub.stop()
        let queue = try DatabaseQueue(path: fixture.directory.path + "/hub.sqlite")
        let wall = HubTime.now().wall
        let (front, side) = (fixture.devices[0].rawValue, fixture.devices[1].rawValue)
        try await queue.write { database in
            for number in 1...700 {
                try database.execute(
                    sql: "INSERT INTO events (number, device, topic, t, body) VALUES (?, ?, 'old', ?, '1')",
                    arguments: [number, side, wall - 31 * 86_400_000])
            }
            for number in 701...10_700 {
                try database.execute(
                    sql: "INSERT INTO events (number, device, topic, t, body) VALUES (?, ?, 'new', ?, '1')",
                    arguments: [number, front, wall])
            }
        }
        try queue.close()

        let store = try SQLiteHubStore(path: fixture.directory.path + "/hub.sqlite")
        var core = HubCore(
            state: try store.load(), authority: TokenAuthority(key: try HubKey(dataDirectory: fixture.directory.path)))
        #expect(core.state.events.total == 10_700)
        var time = HubTime.now()
        var steps = 0
        while steps < 10 {
            steps += 1
            guard let query = core.handleTimeout(at: time).query else { break }
            core.prepareToRead()
            let turn = core.handle(store.resultNow(of: query), at: time)
            try store.commit([turn.changes])
            let deleted = turn.changes.reduce(0) { count, change in
                if case .deleteEvents(let numbers) = change { count + numbers.count } else { count }
            }
            #expect(deleted <= HubCore.eventStep)
            guard deleted > 0 else { break }
            time.monotonic = time.monotonic + .milliseconds(100)
        }
        #expect(steps == 3 || steps == 4)
        #expect(core.state.events[fixture.devices[1]] == 0)
        #expect(core.state.events[fixture.devices[0]] == 10_000)
        store.close()

        let hub = try InProcessHub(directory: fixture.directory)
        _ = try await hub.request(fixture.cameras[0], "session.begin")
        let reply = try await hub.request(fixture.cameras[0], "event.report", ["topic": "newest", "body": 2])
        #expect(reply.result["id"] == 10_701)
        let (count, first) = try await hub.service.perform { core, _ throws(IoTError) in
            (core.state.events.total, core.state.events.last)
        }
        #expect(count == 10_000)
        #expect(first == 10_701)
        await hub.stop()
        let rest = try DatabaseQueue(path: fixture.directory.path + "/hub.sqlite")
        let oldest = try await rest.read { try Int.fetchOne($0, sql: "SELECT min(number) FROM events") }
        #expect(oldest == 702, "700 were too old, one too many")
    }
}
