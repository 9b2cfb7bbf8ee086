import Foundation
import IoTCore
import Logging
import NIOCore
import Synchronization
import Testing

@testable import IoTLink

/// Tests the session with a real mosquitto. A second MQTT connection acts as the hub.
@Suite("The link session over a real broker", .timeLimit(.minutes(1)))
struct LinkSessionTests {
    static let hubToken = TestToken("hub-1")
    static let ownerToken = TestToken("owner-1")
    static let owner = Principal("u/owner")!

    private func withBroker(_ body: (Broker) async throws -> Void) async throws {
        let broker = try Broker(tokens: [Self.hubToken, Self.ownerToken])
        try await broker.start()
        try await body(broker)
        broker.kill()
    }

    private func withSession(
        _ broker: Broker, token: LinkToken = .value(ownerToken.text), limits: LinkLimits = LinkLimits(),
        endpoint: LinkEndpoint? = nil, _ body: (LinkSession) async throws -> Void
    ) async throws {
        let session = LinkSession(
            configuration: LinkConfiguration(
                principal: Self.owner, token: token, endpoint: endpoint ?? broker.endpoint, limits: limits),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await session.run() }
            try await body(session)
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func withHubAndSession(
        _ answer: @escaping WireHub.Answer = WireHub.accept, _ body: (WireHub, LinkSession) async throws -> Void
    ) async throws {
        try await withBroker { broker in
            let hub = WireHub(endpoint: broker.endpoint, token: Self.hubToken, answer: answer)
            try await hub.start()
            try await withSession(broker) { session in try await body(hub, session) }
        }
    }

    private func wait(_ session: LinkSession, for status: LinkStatus) async throws -> LinkStatusChange {
        for await change in session.statusChanges() where change.status == status { return change }
        throw IoTError(.internalFailure, "the session ended before it was \(status)")
    }

    @Test("The session comes online, gets an answer to a request, and ends")
    func wholeLife() async throws {
        try await withBroker { broker in
            let hub = WireHub(endpoint: broker.endpoint, token: Self.hubToken)
            try await hub.start()
            try await withSession(broker) { session in
                var statuses: [LinkStatus] = []
                for await change in session.statusChanges() {
                    statuses.append(change.status)
                    if change.status == .online { break }
                }
                #expect(statuses.last == .online)
                #expect(Set(statuses).isSubset(of: [.unregistering, .registering, .online]))
                let begin = try await hub.next(method: "session.begin")
                #expect(begin.address.principal == Self.owner)
                let result = try await session.request("test.echo", ["text": "grüß Gott"])
                #expect(result == ["text": "grüß Gott"])
            }
            let end = try await hub.next(method: "session.end")
            guard case .push(let push) = end.envelope else { throw Unexpected() }
            #expect(push.params == ["reason": "left"])
        }
    }

    @Test("The session works over TCP on the loopback interface")
    func tcp() async throws {
        // A free port may be taken before mosquitto binds it: try a few.
        for attempt in 1...5 {
            let port = Int.random(in: 20_000..<60_000)
            let broker = try Broker(tokens: [Self.hubToken, Self.ownerToken], port: port)
            do {
                try await broker.start()
            } catch  where attempt < 5 {
                continue
            }
            let endpoint = LinkEndpoint.tcp(host: "127.0.0.1", port: port)
            let hub = WireHub(endpoint: endpoint, token: Self.hubToken)
            try await hub.start()
            try await withSession(broker, endpoint: endpoint) { session in
                _ = try await wait(session, for: .online)
                let result = try await session.request("test.echo", [1, 2])
                #expect(result == [1, 2])
            }
            return
        }
    }

    @Test("Many simultaneous requests, one of them very large, are each answered once")
    func manyRequests() async throws {
        try await withHubAndSession { hub, session in
            _ = try await wait(session, for: .online)
            let large = JSONValue.string(String(repeating: "x", count: 250_000))
            let answered = try await session.request("test.echo", large)
            #expect(answered == large)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let result = try await session.request("test.echo", ["n": .integer(Int64(number))])
                        return result["n"] == .integer(Int64(number))
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            #expect(session.counters.unexpectedReplies == 0)
        }
    }

    @Test("After the broker was killed, the session comes online again and the pending request is answered")
    func brokerKilled() async throws {
        try await withBroker { broker in
            let ignoring = WireHub(endpoint: broker.endpoint, token: Self.hubToken) { address, request in
                request.method == "test.echo" ? [] : WireHub.accept(address, request)
            }
            try await ignoring.start()
            var limits = LinkLimits()
            limits.backoffCap = .milliseconds(500)
            try await withSession(broker, limits: limits) { session in
                _ = try await wait(session, for: .online)
                async let answer = session.request("test.echo", ["n": 1], timeout: .seconds(30))
                let first = try await ignoring.next(method: "test.echo")

                broker.kill()
                let offline = try await wait(session, for: .offline)
                #expect(offline.reason?.code == .linkUnavailable)
                try await broker.start()
                let hub = WireHub(endpoint: broker.endpoint, token: Self.hubToken)
                try await hub.start()
                let second = try await hub.next(method: "test.echo")
                guard case .request(let before) = first.envelope, case .request(let after) = second.envelope else {
                    throw Unexpected()
                }
                #expect(before.id == after.id)
                #expect(first.address == second.address)
                let result = try await answer
                #expect(result == ["n": 1])
                _ = try await wait(session, for: .online)
                #expect(session.counters.onlineCount == 2)
                #expect(session.counters.resentRequests == 1)
            }
        }
    }

    @Test("The session waits for a broker that starts later")
    func lateBroker() async throws {
        let broker = try Broker(tokens: [Self.hubToken, Self.ownerToken])
        var limits = LinkLimits()
        limits.backoffCap = .milliseconds(300)
        try await withSession(broker, limits: limits) { session in
            let offline = try await wait(session, for: .offline)
            #expect(offline.cause == .connectionLost)
            #expect(offline.reason?.message.contains("No such file") == true)
            async let answer = session.request("test.echo", [3], timeout: .seconds(30))
            try await broker.start()
            let hub = WireHub(endpoint: broker.endpoint, token: Self.hubToken)
            try await hub.start()
            let result = try await answer
            #expect(result == [3])
        }
    }

    @Test("Refused credentials lead to tokenFailed; the next registration uses a new token from the file")
    func badCredentials() async throws {
        try await withBroker { broker in
            let hub = WireHub(endpoint: broker.endpoint, token: Self.hubToken)
            try await hub.start()
            let path = broker.directory.appendingPathComponent("token").path
            func write(_ token: String) throws {
                try Data(token.utf8).write(to: URL(fileURLWithPath: path))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            }
            try write(TestToken("stranger").text)
            try await withSession(broker, token: .file(path: path)) { session in
                let failed = try await wait(session, for: .tokenFailed)
                #expect(failed.cause == .tokenRefused)
                #expect(failed.reason?.code == .tokenRejected)
                let error = await #expect(throws: IoTError.self) { try await session.request("test.echo") }
                #expect(error?.code == .linkUnavailable)
                try write(Self.ownerToken.text)
                session.register()
                _ = try await wait(session, for: .online)
            }
        }
    }

    @Test("A token file that others may read leads to tokenFailed with a remedy")
    func openTokenFile() async throws {
        try await withBroker { broker in
            let path = broker.directory.appendingPathComponent("token").path
            try Data(Self.ownerToken.text.utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            try await withSession(broker, token: .file(path: path)) { session in
                let failed = try await wait(session, for: .tokenFailed)
                #expect(failed.cause == .tokenUnreadable)
                #expect(failed.reason?.code == .invalidConfiguration)
                #expect(failed.reason?.remedy.contains("chmod 600") == true)
            }
        }
    }

    @Test("A kicked session stays offline until register(), which begins a new session")
    func kick() async throws {
        try await withHubAndSession { hub, session in
            _ = try await wait(session, for: .online)
            let old = try await hub.next(method: "session.begin").address
            try hub.send(.push(LinkPush(method: "session.kick", params: ["reason": "newer session"])), to: old)
            let kicked = try await wait(session, for: .kickOff)
            #expect(kicked.reason?.message.contains("newer session") == true)
            session.register()
            _ = try await wait(session, for: .online)
            let new = try await hub.next(method: "session.begin").address
            #expect(new.principal == old.principal)
            #expect(new.session != old.session)
        }
    }

    @Test("Handlers run the hub's requests once for each id, unknown methods are refused, and pushes arrive")
    func incoming() async throws {
        try await withHubAndSession { hub, session in
            let calls = Mutex(0)
            session.handle("test.double") { request throws(IoTError) in
                calls.withLock { $0 += 1 }
                guard let number = request.params["n"]?.integerValue else { throw IoTError(.valueInvalid, "no n") }
                return .integer(number * 2)
            }
            let pushes = session.pushes()
            _ = try await wait(session, for: .online)
            let address = try await hub.next(method: "session.begin").address
            let now = WallClock.milliseconds()
            func ask(_ id: String, _ method: String, _ params: JSONValue, deadline: Int64) async throws -> LinkReply {
                let request = LinkRequest(
                    id: id, method: method, from: Principal("u/anna"), params: params, t: now, deadline: deadline)
                try hub.send(.request(request), to: address)
                let arrival = try await hub.next { if case .reply = $0.envelope { true } else { false } }
                guard case .reply(let reply) = arrival.envelope else { throw Unexpected() }
                return reply
            }
            let later = now + 60_000
            let first = try await ask("a", "test.double", ["n": 21], deadline: later)
            #expect(first == LinkReply(id: "a", result: 42))
            let again = try await ask("a", "test.double", ["n": 21], deadline: later)
            #expect(again == first)
            let refused = try await ask("b", "test.double", [:], deadline: later)
            #expect(refused == LinkReply(id: "b", code: .valueInvalid, message: "no n"))
            let unknown = try await ask("c", "test.other", [:], deadline: later)
            #expect(unknown.code == .invalidRequest)
            #expect(calls.withLock { $0 } == 2)

            try hub.send(.push(LinkPush(method: "device.presence", params: ["online": true])), to: address)
            for await push in pushes {
                #expect(push == LinkPush(method: "device.presence", params: ["online": true]))
                break
            }
        }
    }

    @Test("Several envelopes in one message are handled in order")
    func batch() async throws {
        try await withHubAndSession { hub, session in
            session.handle("test.double") { request throws(IoTError) in
                .integer((request.params["n"]?.integerValue ?? 0) * 2)
            }
            let pushes = session.pushes()
            _ = try await wait(session, for: .online)
            let begin = try await hub.next(method: "session.begin")
            guard case .request(let registration) = begin.envelope else { throw Unexpected() }
            #expect(registration.params["batches"] == true)
            let now = WallClock.milliseconds()
            let batch: [Envelope] = [
                .push(LinkPush(method: "test.first")),
                .request(
                    LinkRequest(id: "a", method: "test.double", params: ["n": 21], t: now, deadline: now + 60_000)),
                .push(LinkPush(method: "test.second")),
            ]
            try hub.send(batch, to: begin.address)
            let arrival = try await hub.next { if case .reply = $0.envelope { true } else { false } }
            #expect(arrival.envelope == .reply(LinkReply(id: "a", result: 42)))
            var methods: [String] = []
            for await push in pushes {
                methods.append(push.method)
                if methods.count == 2 { break }
            }
            #expect(methods == ["test.first", "test.second"])
            #expect(session.counters.malformedEnvelopes == 0)
        }
    }

    @Test("A handler is cancelled at the request's deadline")
    func handlerDeadline() async throws {
        try await withHubAndSession { hub, session in
            let (cancelled, writer) = AsyncStream.makeStream(of: Void.self)
            session.handle("test.hang") { _ throws(IoTError) in
                let (never, _) = AsyncStream.makeStream(of: Void.self)
                for await _ in never {}
                writer.finish()
                throw IoTError(.operationTimeout)
            }
            _ = try await wait(session, for: .online)
            let address = try await hub.next(method: "session.begin").address
            let now = WallClock.milliseconds()
            try hub.send(
                .request(LinkRequest(id: "a", method: "test.hang", t: now, deadline: now + 1_000)), to: address)
            for await _ in cancelled {}
        }
    }

    @Test("Several answers arrive in order")
    func severalAnswers() async throws {
        let answer: WireHub.Answer = { address, request in
            guard request.method == "test.count" else { return WireHub.accept(address, request) }
            return (0..<5).map {
                LinkReply(id: request.id, result: .integer(Int64($0)), seq: $0, final: $0 == 4)
            }
        }
        try await withHubAndSession(answer) { hub, session in
            _ = try await wait(session, for: .online)
            var answers: [JSONValue] = []
            for try await answer in session.responses("test.count", timeout: .seconds(10)) {
                answers.append(answer)
            }
            #expect(answers == [0, 1, 2, 3, 4])
        }
    }

    @Test("A request without an answer fails with 21002 at the deadline, and cancelling a request ends it")
    func deadlineAndCancellation() async throws {
        let answer: WireHub.Answer = { address, request in
            request.method == "test.mute" ? [] : WireHub.accept(address, request)
        }
        try await withHubAndSession(answer) { hub, session in
            _ = try await wait(session, for: .online)
            let late = await #expect(throws: IoTError.self) {
                try await session.request("test.mute", timeout: .milliseconds(100))
            }
            #expect(late?.code == .messageTimeout)
            let task = Task { try await session.request("test.mute", timeout: .seconds(50)) }
            _ = try await hub.next(method: "test.mute")
            task.cancel()
            let given = await #expect(throws: IoTError.self) { try await task.value }
            #expect(given?.code == .sendFailed)
        }
    }

    @Test("The will reports a lost session to the hub")
    func will() async throws {
        try await withHubAndSession { hub, session in
            _ = try await wait(session, for: .online)
            let address = try await hub.next(method: "session.begin").address
            // Another client with the same id ends the connection as a cut cable would: the broker publishes the will.
            let usurper = MQTTConnection(
                configuration: MQTTConfiguration(
                    endpoint: hub.endpoint, clientID: session.state.withLock { $0.machine.clientID },
                    credentials: MQTTCredentials(userName: Self.ownerToken.id, password: Self.ownerToken.text))
            ) { _ in }
            usurper.connect()
            let end = try await hub.next(method: "session.end")
            #expect(end.address == address)
            #expect(
                end.envelope
                    == .push(
                        LinkPush(method: "session.end", params: ["reason": "connectionLost", "connection": 1])))
            let again = try await hub.next(method: "session.begin")
            #expect(again.address == address)
        }
    }

    @Test("Malformed envelopes are counted and have no effect")
    func malformed() async throws {
        try await withHubAndSession { hub, session in
            _ = try await wait(session, for: .online)
            let address = try await hub.next(method: "session.begin").address
            let rogue = MQTTConnection(
                configuration: MQTTConfiguration(
                    endpoint: hub.endpoint, clientID: "rogue",
                    credentials: MQTTCredentials(userName: Self.hubToken.id, password: Self.hubToken.text))
            ) { _ in }
            rogue.connect()
            for payload in [[], [0xFF, 0xFE], Array("{}".utf8), [UInt8](repeating: 0x20, count: 300_000)] {
                try rogue.publish(MQTTMessage(topic: address.downTopic, payload: payload))
            }
            let push = try Envelope.push(LinkPush(method: "test.after")).serialized()
            let pushes = session.pushes()
            try rogue.publish(MQTTMessage(topic: address.downTopic, payload: push))
            for await push in pushes where push.method == "test.after" { break }
            #expect(session.counters.malformedEnvelopes == 4)
            #expect(session.current.status == .online)
        }
    }
}
