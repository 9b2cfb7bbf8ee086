import GRDB
import IoTCore
import IoTLink
import Testing
import ThingModel

@testable import LinkHub

@Suite("Limits of what the hub remembers", .timeLimit(.minutes(1)))
struct AnswerBoundTests {
    private func size(_ path: String) throws -> Int {
        try DatabaseQueue(path: path).read {
            try Int.fetchOne($0, sql: "SELECT coalesce(sum(length(reply)), 0) FROM answers") ?? 0
        }
    }

    @Test(
        "Writes of large values keep at most their account's bytes of answers, and another account's answer stays")
    func bytesOfOne() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/hub.sqlite"
        var limits = HubLimits()
        limits.answerBytesOfPrincipal = 200_000
        limits.answerBytes = 400_000
        var hub = try InProcessHub(directory: directory, limits: limits)
        let (owner, devices) = try await hub.prepare()
        let target = JSONValue.string(devices[0].rawValue)
        let member = LinkAddress.random(.user(try #require(AccessID(rawValue: "member"))))
        try await hub.service.perform { core, time throws(IoTError) in
            try core.addUser(member.principal.accessID!, at: time)
            try core.bind(member.principal.accessID!, devices[0], .guest, [.view, .configure], at: time)
        }
        _ = try await hub.request(member, "session.begin")
        let small: JSONValue = ["device": target, "path": "ProWritable.volume.setVal", "value": 7]
        let first = try await hub.request(member, "property.write", small, id: "mine")
        #expect(first.code == .success)
        _ = try await hub.request(owner, "userProperty.add", ["device": target, "name": "big", "value": 0])
        func large(_ number: Int) -> JSONValue {
            let text = "\(number)" + String(repeating: "x", count: 20_000)
            return ["device": target, "path": "ProUser.big.val", "value": .string(text)]
        }
        var last: LinkReply?
        for number in 0..<40 {
            last = try await hub.request(owner, "property.write", large(number), id: "w\(number)")
            #expect(last?.code == .success)
        }
        #expect(try size(path) <= 200_000)
        #expect(try size(path) > 180_000)
        await hub.stop()
        hub = try InProcessHub(directory: directory, limits: limits)
        let (again, _) = try await hub.prepare()
        _ = try await hub.request(member, "session.begin")
        #expect(try await hub.request(member, "property.write", small, id: "mine") == first)
        #expect(try await hub.request(again, "property.write", large(39), id: "w39") == last)
        await hub.stop()
    }

    @Test("Answers in an account's name count against that account, not the session that asked, also after a restart")
    func actors() throws {
        let store = try SQLiteHubStore(path: nil)
        let gateway = Principal.user(try #require(AccessID(rawValue: "owner")))
        let guest = Principal.user(try #require(AccessID(rawValue: "guest")))
        var index = AnswerIndex(capacityOfOne: 2_000, capacity: 10_000)
        func add(_ id: String, _ actor: Principal) throws {
            let key = AnswerIndex.Key(principal: gateway, id: id)
            let number = index.add(key, RequestContent(digest: 1), of: actor, size: 500, at: 1)
            let forgotten = index.takeForgotten()
            try store.commit([
                [
                    .answer(
                        number: number, key, RequestContent(digest: 1), of: actor, at: 1,
                        reply: Array(repeating: 0, count: 500))
                ],
                forgotten.isEmpty ? [] : [.forgetAnswers(forgotten)],
            ])
        }
        try add("mine", gateway)
        for number in 0..<10 { try add("g\(number)", guest) }
        #expect(index[AnswerIndex.Key(principal: gateway, id: "mine")] != nil)
        #expect(index[AnswerIndex.Key(principal: gateway, id: "g0")] == nil)
        #expect(index[AnswerIndex.Key(principal: gateway, id: "g9")] != nil)
        let loaded = try store.load().answers
        #expect(loaded.count == index.count)
        #expect(loaded.count == 3)
    }

    @Test("Answers that changed nothing have their own bounds, and one account does not displace another's")
    func recent() throws {
        var limits = HubLimits()
        limits.recentAnswerBytesOfPrincipal = 20_000
        var hub = try CoreFixture(limits: limits)
        try hub.bringEverybodyOnline()
        let read: JSONValue = ["device": "front", "path": "ProReadonly"]
        let first = try hub.request(hub.guest, "property.read", read, id: "mine")
        for number in 0..<200 { _ = try hub.request(hub.owner, "device.show", ["device": "front"], id: "o\(number)") }
        #expect(hub.core.recent.byteCount <= 20_000 + 8_192)
        let repeated = hub.core.statistics.repeatedRequests
        #expect(try hub.request(hub.guest, "property.read", read, id: "mine") == first)
        #expect(hub.core.statistics.repeatedRequests == repeated + 1)
    }

    @Test("The events of a device stay within their bytes: the oldest are deleted, and the count stays correct")
    func events() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/hub.sqlite"
        var limits = HubLimits()
        limits.eventBytesOfDevice = 100_000
        let hub = try InProcessHub(directory: directory, limits: limits)
        let (owner, devices) = try await hub.prepare(devices: ["front", "back"])
        let cameras = devices.map { LinkAddress.random(.device($0)) }
        for camera in cameras { _ = try await hub.request(camera, "session.begin") }
        func report(_ camera: LinkAddress, _ number: Int) async throws -> ErrorCode {
            let body = JSONValue.string("\(number)" + String(repeating: "x", count: 2_900))
            return try await hub.request(camera, "event.report", ["topic": "a", "body": body]).code
        }
        #expect(try await report(cameras[1], 0) == .success)
        for number in 0..<100 { #expect(try await report(cameras[0], number) == .success) }
        let database = try DatabaseQueue(path: path)
        func check(_ device: DeviceID) async throws -> (count: Int, bytes: Int) {
            let known = try await hub.service.perform { core, _ in core.state.events[device] }
            return try await database.read { database in
                let row = try Row.fetchOne(
                    database, sql: "SELECT count(*) AS count, sum(length(body)) AS bytes FROM events WHERE device = ?",
                    arguments: [device.rawValue])
                let kept = try Row.fetchOne(
                    database, sql: "SELECT count, bytes FROM event_sizes WHERE device = ?", arguments: [device.rawValue]
                )
                let (count, bytes): (Int, Int) = (row?["count"] ?? 0, row?["bytes"] ?? 0)
                #expect(kept?["count"] ?? 0 == count)
                #expect(kept?["bytes"] ?? 0 == bytes)
                #expect(known == count)
                return (count, bytes)
            }
        }
        let front = try await check(devices[0])
        #expect(front.bytes <= 100_000)
        #expect(front.count == 100_000 / 2_904)
        #expect(try await check(devices[1]).count == 1)
        let listed = try await hub.request(owner, "event.list", ["device": "front", "limit": 1])
        #expect(listed.result["events"]?.arrayValue?.first?["body"]?.stringValue?.hasPrefix("99") == true)
        try await hub.service.perform { core, time throws(IoTError) in try core.removeDevice(devices[0], at: time) }
        #expect(try await check(devices[0]).count == 0)
        await hub.stop()
    }
}

@Suite("How many rows accounts can create")
struct RowQuotaTests {
    @Test(
        "Past the limits, accounts, devices and bindings are refused with 25024 and a remedy, and nothing changes")
    func rows() throws {
        var limits = HubLimits()
        limits.accounts = 5
        limits.devices = 3
        limits.bindingsOfDevice = 3
        var hub = try CoreFixture(limits: limits)
        let time = hub.time
        func refused(_ body: (inout HubCore) throws(IoTError) -> Void) {
            let before = (hub.core.state.users.count, hub.core.state.devices.count)
            do throws(IoTError) {
                try body(&hub.core)
                Issue.record("it was accepted")
            } catch {
                #expect(error.code == .tooManyRequests)
                #expect(error.specificRemedy != nil)
            }
            #expect((hub.core.state.users.count, hub.core.state.devices.count) == before)
        }
        let names = try ["a", "b", "c"].map { try #require(AccessID(rawValue: $0)) }
        for name in names.prefix(2) { try hub.core.addUser(name, at: time) }
        refused { core throws(IoTError) in try core.addUser(names[2], at: time) }
        _ = try hub.core.addDevice(named: "third")
        refused { core throws(IoTError) in _ = try core.addDevice(named: "fourth") }
        let front = hub.front
        try hub.core.bind(names[0], front, .guest, at: time)
        refused { core throws(IoTError) in try core.bind(names[1], front, .guest, at: time) }
        try hub.core.bind(names[0], front, .guest, .all, at: time)
        #expect(hub.core.state.bindings.users(of: front).count == 3)
    }
}
