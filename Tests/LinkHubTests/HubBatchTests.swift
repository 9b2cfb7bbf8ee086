import IoTCore
import IoTLink
import NIOConcurrencyHelpers
import Testing
import ThingModel

@testable import LinkHub

/// What waits while a batch is stored is the next batch: a test holds the store, sends requests, and releases it.
@Suite("Batches of the hub, and what happens if one cannot be stored", .timeLimit(.minutes(1)))
struct HubBatchTests {
    private struct Fixture {
        let directory = TemporaryDirectory()
        let hub: InProcessHub
        let store: ScriptedStore
        let owner: LinkAddress
        let front: DeviceID
        let sent: NIOLockedValueBox<[(LinkAddress, Envelope)]>
        /// The number of envelopes that each batch sent.
        let sizes = NIOLockedValueBox<[Int]>([])

        init() async throws {
            let stores = NIOLockedValueBox<ScriptedStore?>(nil)
            let sent = NIOLockedValueBox<[(LinkAddress, Envelope)]>([])
            hub = try InProcessHub(
                directory: directory,
                onDeliver: { [sizes] outputs in
                    let before = sent.withLockedValue { $0.count }
                    defer { sizes.withLockedValue { $0.append(sent.withLockedValue { $0.count } - before) } }
                    for case .message(let address, let payload) in outputs {
                        for envelope in EnvelopeBatch.parse(payload).envelopes {
                            sent.withLockedValue { $0.append((address, envelope)) }
                        }
                    }
                },
                wrap: { inner in
                    let store = ScriptedStore(inner)
                    stores.withLockedValue { $0 = store }
                    return store
                })
            self.sent = sent
            store = try #require(stores.withLockedValue { $0 })
            let (owner, devices) = try await hub.prepare()
            (self.owner, front) = (owner, devices[0])
            // The hub has finished its work: later commits are the test's own.
            _ = try await request("session.heartbeat")
            _ = store.takeCommits()
            sent.withLockedValue { $0 = [] }
        }

        func request(_ method: String, _ params: JSONValue = [:], id: String = RequestID.random()) async throws
            -> LinkReply
        {
            try await hub.request(owner, method, params, id: id)
        }

        /// Makes one batch of everything that `send` hands over, one after another: another write holds the store.
        func batch<Result>(_ send: (_ one: (() throws -> Void) async throws -> Void) async throws -> Result)
            async throws -> Result
        {
            store.hold()
            _ = store.takeCommits()
            async let first = add("first", 1)
            while store.takeCommits().isEmpty { await Task.yield() }
            let result = try await send { handOver in
                let waiting = hub.service.waiting
                try handOver()
                while hub.service.waiting == waiting { await Task.yield() }
            }
            store.release()
            #expect(try await first.code == .success)
            return result
        }

        /// The replies to these requests, sent as one batch.
        func together(_ requests: [(LinkAddress, method: String, params: JSONValue)]) async throws -> [LinkReply] {
            let tasks = try await batch { one in
                var tasks: [Task<LinkReply, any Error>] = []
                for (address, method, params) in requests {
                    try await one { tasks.append(Task { try await hub.request(address, method, params) }) }
                }
                return tasks
            }
            var replies: [LinkReply] = []
            for task in tasks { replies.append(try await task.value) }
            return replies
        }

        func add(_ name: String, _ value: JSONValue) async throws -> LinkReply {
            try await request("userProperty.add", ["device": "front", "name": .string(name), "value": value])
        }

        func value(_ name: String) async throws -> JSONValue {
            try await request("property.read", ["device": "front", "path": .string("ProUser.\(name).val")]).result[
                "value"] ?? .null
        }

        /// Makes a turn that contains this text fail to be stored.
        func refuse(_ text: String) {
            store.fail { turns in
                let isBad = turns.contains { "\($0)".contains(text) }
                return isBad ? CommitFailure(error: IoTError(.storeFailed, "sabotage"), isOfStore: false) : nil
            }
        }

        func stop() async {
            store.fail { _ in nil }
            await hub.stop()
        }
    }

    private func added(_ name: String, _ value: JSONValue) -> JSONValue {
        ["device": "front", "name": .string(name), "value": value]
    }

    @Test("One batch is stored at a time, later items are the next, and no answer leaves before its batch is stored")
    func oneInFlight() async throws {
        let fixture = try await Fixture()
        let (hub, owner) = (fixture.hub, fixture.owner)
        let tasks = try await fixture.batch { one in
            var tasks: [Task<LinkReply, any Error>] = []
            for number in 0..<20 {
                let params = added("p\(number)", 1)
                try await one { tasks.append(Task { try await hub.request(owner, "userProperty.add", params) }) }
            }
            #expect(fixture.store.takeCommits().isEmpty)
            #expect(fixture.sent.withLockedValue { $0.isEmpty })
            return tasks
        }
        for task in tasks {
            let reply = try await task.value
            #expect(reply.code == .success)
        }
        #expect(fixture.store.takeCommits().map(\.count) == [20])
        await fixture.stop()
    }

    @Test("One turn that cannot be stored fails alone, at any place in its batch", arguments: [0, 6, 12])
    func failsAlone(place: Int) async throws {
        let fixture = try await Fixture()
        fixture.refuse("poison")
        let loads = fixture.store.loads
        var requests = (0..<12).map {
            (fixture.owner, method: "userProperty.add", params: added("p\($0)", .integer(Int64($0))))
        }
        requests.insert((fixture.owner, "userProperty.add", added("poisoned", "poison")), at: place)
        let replies = try await fixture.together(requests)
        for (index, reply) in replies.enumerated() { #expect(reply.code == (index == place ? .storeFailed : .success)) }
        #expect(fixture.store.loads == loads + 1, "the state is read once")
        #expect(fixture.store.takeCommits().count <= 9, "halves, not turns")
        for number in 0..<12 { #expect(try await fixture.value("p\(number)") == .integer(Int64(number))) }
        #expect(try await fixture.value("poisoned") == .null)
        // Versions continue without the failed turn, in memory and on the disk.
        let versions = replies.compactMap { $0.result["version"]?.integerValue }
        #expect(versions == versions.sorted() && Set(versions).count == 12)
        #expect(try await fixture.store.load().models[fixture.front]?.version == versions.last)
        await fixture.stop()
    }

    @Test("A turn that depends on one that cannot be stored is decided again, without it")
    func dependent() async throws {
        let fixture = try await Fixture()
        fixture.refuse("putUser")
        let eve = AccessID(rawValue: "eve")!
        let (service, front) = (fixture.hub.service, fixture.front)
        let tasks = try await fixture.batch { one in
            var tasks: [Task<Void, any Error>] = []
            try await one {
                tasks.append(
                    Task {
                        try await service.perform { core, time throws(IoTError) in try core.addUser(eve, at: time) }
                    })
            }
            try await one {
                tasks.append(
                    Task {
                        try await service.perform { core, time throws(IoTError) in
                            guard core.state.users[eve] != nil else { throw IoTError(.targetNotFound) }
                            try core.bind(eve, front, .guest, at: time)
                        }
                    })
            }
            return tasks
        }
        let errors = [await tasks[0].result, await tasks[1].result].map { result in
            if case .failure(let error as IoTError) = result { error.code } else { nil as ErrorCode? }
        }
        #expect(errors == [.storeFailed, .targetNotFound])
        let binding = try await service.perform { core, _ throws(IoTError) in core.state.bindings[front, eve] }
        #expect(binding == nil)
        await fixture.stop()
    }

    @Test("A session that began in a batch that is decided again has begun only once")
    func sessions() async throws {
        let fixture = try await Fixture()
        fixture.refuse("poison")
        let camera = LinkAddress.random(.device(fixture.front))
        let newer = LinkAddress.random(fixture.owner.principal)
        let replies = try await fixture.together([
            (camera, "session.begin", [:]), (fixture.owner, "userProperty.add", added("poisoned", "poison")),
            (newer, "session.begin", [:]),
        ])
        #expect(replies.map(\.code) == [.success, .storeFailed, .success])
        let kicks = fixture.sent.withLockedValue { sent in
            sent.count { address, envelope in
                if case .push(let push) = envelope {
                    address == fixture.owner && push.method == "session.kick"
                } else {
                    false
                }
            }
        }
        #expect(kicks == 1, "the older session is kicked once")
        let loaded = try await fixture.store.load()
        #expect(loaded.registrations[newer.principal]?.session == newer.session)
        #expect(try loaded.models[fixture.front]?.read("ProReadonly._online.stVal").value == 1)
        await fixture.stop()
    }

    @Test("A request is forwarded once, and its answer passed on once, in batches that are decided again")
    func forwards() async throws {
        let fixture = try await Fixture()
        fixture.refuse("poison")
        let camera = LinkAddress.random(.device(fixture.front))
        _ = try await fixture.hub.request(camera, "session.begin")
        let (hub, owner) = (fixture.hub, fixture.owner)
        let poison = added("poisoned", "poison")
        let message: JSONValue = ["device": "front", "data": "aGVsbG8=", "responses": "one"]
        let (asked, poisoned) = try await fixture.batch { one in
            var tasks: [Task<LinkReply, any Error>] = []
            try await one { tasks.append(Task { try await hub.request(owner, "message.send", message) }) }
            try await one { tasks.append(Task { try await hub.request(owner, "userProperty.add", poison) }) }
            return (tasks[0], tasks[1])
        }
        #expect(try await poisoned.value.code == .storeFailed)
        let requests = fixture.sent.withLockedValue { sent in
            sent.compactMap { address, envelope in
                if address == camera, case .request(let request) = envelope { request } else { nil as LinkRequest? }
            }
        }
        #expect(requests.count == 1)
        let id = try #require(requests.first?.id)
        let again = try await fixture.batch { one in
            var task: Task<LinkReply, any Error>?
            try await one { try hub.send(camera, .reply(LinkReply(id: id, result: ["data": "aGk="]))) }
            try await one { task = Task { try await hub.request(owner, "userProperty.add", poison) } }
            return try #require(task)
        }
        #expect(try await again.value.code == .storeFailed)
        #expect(try await asked.value.result["data"] == "aGk=")
        let isIdle = try await hub.service.perform { core, _ throws(IoTError) in core.forwards.isEmpty }
        #expect(isIdle)
        await fixture.stop()
    }

    @Test("While the store itself fails, a whole batch is refused at once, and memory matches the disk")
    func storeFails() async throws {
        let fixture = try await Fixture()
        let requests = (0..<9).map { (fixture.owner, method: "userProperty.add", params: added("p\($0)", 1)) }
        let count = NIOLockedValueBox(0)
        fixture.store.fail { turns in
            count.withLockedValue { $0 += 1 }
            return turns.count == 9 ? CommitFailure(error: IoTError(.storeFailed, "disk full"), isOfStore: true) : nil
        }
        let replies = try await fixture.together(requests)
        #expect(replies.allSatisfy { $0.code == .storeFailed && $0.message.contains("disk full") })
        #expect(count.withLockedValue { $0 } == 2, "the write that held the store, and one attempt")
        for number in 0..<9 { #expect(try await fixture.value("p\(number)") == .null) }
        #expect(fixture.hub.service.storeFailure == nil, "the state was read again")
        await fixture.stop()
    }

    @Test("While the state cannot be read again, everything is refused and the failure is reported")
    func failsClosed() async throws {
        let fixture = try await Fixture()
        #expect(try await fixture.add("kept", 1).code == .success)
        fixture.refuse("poison")
        fixture.store.setUnreadable(true)
        let replies = try await fixture.together([
            (fixture.owner, "property.read", ["device": "front", "path": "ProUser.kept.val"]),
            (fixture.owner, "userProperty.add", added("poisoned", "poison")),
            (fixture.owner, "userProperty.add", added("other", 1)),
        ])
        #expect(replies.map(\.code) == [.storeFailed, .storeFailed, .storeFailed])
        #expect(fixture.hub.service.storeFailure?.code == .storeFailed)
        #expect(try await fixture.request("session.heartbeat").code == .storeFailed)
        fixture.store.setUnreadable(false)
        while try await fixture.request("session.heartbeat").code == .storeFailed { await Task.yield() }
        #expect(try await fixture.value("kept") == 1)
        #expect(try await fixture.value("other") == .null)
        #expect(fixture.hub.service.storeFailure == nil)
        await fixture.stop()
    }

    // MARK: Queries

    @Test("A repeat with an answer that cannot be read is refused, and not carried out a second time")
    func unreadableAnswer() async throws {
        let fixture = try await Fixture()
        let params = added("counted", 1)
        let first = try await fixture.request("userProperty.add", params, id: "same")
        _ = fixture.store.takeCommits()
        fixture.store.setUnreadable(true)
        #expect(try await fixture.request("userProperty.add", params, id: "same").code == .storeFailed)
        fixture.store.setUnreadable(false)
        #expect(try await fixture.request("userProperty.add", params, id: "same") == first)
        #expect(fixture.store.takeCommits().isEmpty)
        await fixture.stop()
    }

    @Test("Two repeats of a request that the store has forgotten carry it out once more, not twice")
    func forgottenAnswer() async throws {
        let fixture = try await Fixture()
        let (hub, owner) = (fixture.hub, fixture.owner)
        let params = added("counted", 1)
        _ = try await fixture.request("userProperty.add", params, id: "same")
        // Memory still knows the places of the answers.
        try hub.store.commit([[.forgetAnswers([1...1_000])]])
        let task = try await fixture.batch { one in
            fixture.sent.withLockedValue { $0 = [] }
            var task: Task<LinkReply, any Error>?
            try await one { task = Task { try await hub.request(owner, "userProperty.add", params, id: "same") } }
            let wall = HubTime.now().wall
            let again = LinkRequest(
                id: "same", method: "userProperty.add", params: params, t: wall, deadline: wall + 30_000)
            try await one { try hub.send(owner, .request(again)) }
            return try #require(task)
        }
        _ = try await task.value
        _ = try await fixture.request("session.heartbeat")
        let carriedOut = fixture.store.takeCommits().joined().count { "\($0)".contains("counted") }
        #expect(carriedOut == 1)
        let replies = fixture.sent.withLockedValue { sent in
            sent.compactMap { _, envelope in
                if case .reply(let reply) = envelope, reply.id == "same" { reply } else { nil as LinkReply? }
            }
        }
        #expect(replies.count == 2 && Set(replies.map(\.result)).count == 1)
        await fixture.stop()
    }

    @Test("The right to events is checked again when they were read, because it may have ended since the request")
    func rightEnds() async throws {
        let fixture = try await Fixture()
        let (service, front) = (fixture.hub.service, fixture.front)
        let camera = LinkAddress.random(.device(front))
        let guest = LinkAddress.random(.user(AccessID(rawValue: "guest")!))
        try await service.perform { core, time throws(IoTError) in
            try core.addUser(guest.principal.accessID!, at: time)
            try core.bind(guest.principal.accessID!, front, .guest, at: time)
        }
        for address in [camera, guest] { _ = try await fixture.hub.request(address, "session.begin") }
        #expect(try await fixture.hub.request(camera, "event.report", ["topic": "a", "body": 1]).code == .success)
        let hub = fixture.hub
        let (listed, ended) = try await fixture.batch { one in
            var list: Task<LinkReply, any Error>?
            var end: Task<Void, any Error>?
            try await one { list = Task { try await hub.request(guest, "event.list") } }
            try await one {
                end = Task {
                    try await service.perform { core, time throws(IoTError) in
                        try core.unbind(guest.principal.accessID!, front, at: time)
                    }
                }
            }
            return (try #require(list), try #require(end))
        }
        try await ended.value
        #expect(try await listed.value.result["events"] == [])
        await fixture.stop()
    }

    @Test("At most 64 answers are read from the store at once, so that not all need be in memory")
    func manyQueries() async throws {
        let fixture = try await Fixture()
        let requests = (0..<100).map { _ in (fixture.owner, method: "event.list", params: [:] as JSONValue) }
        let replies = try await fixture.together(requests)
        #expect(replies.allSatisfy { $0.code == .success })
        #expect(fixture.sizes.withLockedValue { $0.filter { $0 > 30 } } == [64, 36])
        await fixture.stop()
    }

    @Test("One principal's reads wait in 128 places, and take turns with those of others; further ones are refused")
    func oneWithManyQueries() async throws {
        let fixture = try await Fixture()
        let service = fixture.hub.service
        let guest = LinkAddress.random(.user(AccessID(rawValue: "guest")!))
        try await service.perform { core, time throws(IoTError) in
            try core.addUser(guest.principal.accessID!, at: time)
        }
        _ = try await fixture.hub.request(guest, "session.begin")
        fixture.sent.withLockedValue { $0 = [] }
        let requests = (0..<200).map { _ in (guest, method: "event.list", params: [:] as JSONValue) }
        let replies = try await fixture.together(requests + [(fixture.owner, "event.list", [:])])
        #expect(replies.count { $0.code == .success } == 129)
        #expect(replies.count { $0.code == .tooManyRequests } == 72)
        #expect(replies.last?.code == .success)
        let isOwner = fixture.sent.withLockedValue { sent in
            sent.compactMap { address, envelope in
                if case .reply(let reply) = envelope, reply.result["events"] != nil {
                    address == fixture.owner
                } else {
                    nil
                }
            }
        }
        #expect(isOwner.prefix(64).contains(true))
        await fixture.stop()
    }

    @Test("A repeat of a request whose answer is being read is not carried out, and answered once")
    func repeatedWhileAsking() async throws {
        let fixture = try await Fixture()
        let (hub, owner) = (fixture.hub, fixture.owner)
        let camera = LinkAddress.random(.device(fixture.front))
        _ = try await hub.request(camera, "session.begin")
        let event = try await hub.request(camera, "event.report", ["topic": "a", "body": 1])
        let params: JSONValue = ["ids": [event.result["id"] ?? .null]]
        let task = try await fixture.batch { one in
            var task: Task<LinkReply, any Error>?
            try await one { task = Task { try await hub.request(owner, "event.delete", params, id: "same") } }
            let wall = HubTime.now().wall
            let again = LinkRequest(
                id: "same", method: "event.delete", params: params, t: wall, deadline: wall + 30_000)
            try await one { try hub.send(owner, .request(again)) }
            return try #require(task)
        }
        let reply = try await task.value
        #expect(reply.result["deleted"] == 1)
        _ = try await fixture.request("session.heartbeat")
        let replies = fixture.sent.withLockedValue { sent in
            sent.count { _, envelope in if case .reply(let reply) = envelope { reply.id == "same" } else { false } }
        }
        #expect(replies == 1)
        await fixture.stop()
    }

    @Test("Two requests that delete the same events delete them once, and the count stays correct")
    func deletedTwice() async throws {
        let fixture = try await Fixture()
        let camera = LinkAddress.random(.device(fixture.front))
        _ = try await fixture.hub.request(camera, "session.begin")
        var ids: [JSONValue] = []
        for _ in 0..<4 {
            let reply = try await fixture.hub.request(camera, "event.report", ["topic": "a", "body": 1])
            ids.append(reply.result["id"] ?? .null)
        }
        let replies = try await fixture.together([
            (fixture.owner, "event.delete", ["ids": .array(Array(ids[0..<2]))]),
            (fixture.owner, "event.delete", ["ids": .array(Array(ids[1..<3]))]),
        ])
        #expect(replies.map { $0.result["deleted"] } == [2, 1])
        let counted = try await fixture.hub.service.perform { core, _ throws(IoTError) in core.state.events.total }
        #expect(counted == 1)
        await fixture.stop()
    }

    @Test("A read result is checked against the earlier parts of its batch, even after a part failed")
    func deletedBeforeFailure() async throws {
        let fixture = try await Fixture()
        let camera = LinkAddress.random(.device(fixture.front))
        _ = try await fixture.hub.request(camera, "session.begin")
        var ids: [JSONValue] = []
        for _ in 0..<5 {
            let reply = try await fixture.hub.request(camera, "event.report", ["topic": "a", "body": 1])
            ids.append(reply.result["id"] ?? .null)
        }
        let attempts = NIOLockedValueBox(0)
        fixture.store.fail { turns in
            guard turns.contains(where: { "\($0)".contains("deleteEvents") }) else { return nil }
            // The order: all three, the first, the others, the second, the third.
            let attempt = attempts.withLockedValue { attempts in
                attempts += 1
                return attempts
            }
            guard [1, 3, 4].contains(attempt) else { return nil }
            return CommitFailure(error: IoTError(.storeFailed, "sabotage"), isOfStore: attempt == 4)
        }
        let replies = try await fixture.together([
            (fixture.owner, "event.delete", ["ids": .array(Array(ids[0..<2]))]),
            (fixture.owner, "event.delete", ["ids": .array(Array(ids[2..<3]))]),
            (fixture.owner, "event.delete", ["ids": .array(Array(ids[1..<4]))]),
        ])
        #expect(replies.map(\.code) == [.success, .storeFailed, .success])
        #expect(attempts.withLockedValue { $0 } == 5)
        #expect(replies[0].result["deleted"] == 2 && replies[2].result["deleted"] == 2)
        let counted = try await fixture.hub.service.perform { core, _ throws(IoTError) in core.state.events.total }
        #expect(counted == 1)
        await fixture.stop()
    }
}
