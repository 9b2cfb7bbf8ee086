import IoTCore
import Synchronization
import Testing
import ThingModel

@testable import IoTLink

/// A link that returns the test's answers and records the requests.
private final class ScriptedLink: ModelLink {
    let asked = Mutex<[(method: String, params: JSONValue, timeout: Duration, id: String?)]>([])
    private let answers: Mutex<[Result<JSONValue, IoTError>]>
    let pushList: [LinkPush]

    init(_ answer: Result<JSONValue, IoTError>, pushes: [LinkPush] = []) {
        answers = Mutex([answer])
        pushList = pushes
    }

    /// Returns the results one after the other, then the last one repeatedly.
    init(_ results: [JSONValue]) {
        answers = Mutex(results.map { .success($0) })
        pushList = []
    }

    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue {
        asked.withLock { $0.append((method, params, timeout, id)) }
        return try answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }.get()
    }

    func statusChanges() -> AsyncStream<LinkStatusChange> { AsyncStream { $0.finish() } }
    func handle(_ method: String, _ handler: @escaping LinkSession.Handler) {}
    func pushes() -> AsyncStream<LinkPush> {
        AsyncStream { continuation in
            for push in pushList { continuation.yield(push) }
            continuation.finish()
        }
    }
}

@Suite struct ThingModelClientTests {
    private let id = "00112233445566778899aabbccddeeff"

    @Test("A write sends the path, value and expected version, and reads the answer")
    func write() async throws {
        let link = ScriptedLink(.success(["version": 9, "value": 3, "pending": true]))
        let outcome = try await ThingModelClient(link: link).write(
            "front", "ProWritable._logLevel.setVal", 3, ifVersion: 8, id: "r1")
        #expect(outcome.version == 9)
        #expect(outcome.isPending)
        let asked = try #require(link.asked.withLock { $0.first })
        #expect(asked.method == "property.write")
        #expect(
            asked.params
                == ["device": "front", "path": "ProWritable._logLevel.setVal", "value": 3, "ifVersion": 8])
        #expect(asked.id == "r1")
    }

    @Test("After a lost race the current value and version arrive over the link")
    func conflict() async throws {
        // The error of the hub's document, converted to a reply and back.
        var document = try sampleDocument()
        let thrown = try expectError(.versionConflict) {
            _ = try document.write("ProWritable._logLevel.setVal", 1, at: 1, ifVersion: 7)
        }
        let reply = LinkReply(id: "1", error: thrown)
        guard case .failure(let received) = reply.outcome else { throw IoTError(.internalFailure) }
        let client = ThingModelClient(link: ScriptedLink(.failure(received)))
        let error = await #expect(throws: IoTError.self) { _ = try await client.write("front", "x", 1, ifVersion: 7) }
        #expect(
            error?.versionConflict == VersionConflict(path: "ProWritable._logLevel.setVal", value: 0, version: 1))
    }

    @Test("An action sends its timeout, and the caller waits a little longer")
    func action() async throws {
        let link = ScriptedLink(.success(["value": ["resource": "r"]]))
        let result = try await ThingModelClient(link: link).takeAction(
            "front", "Action.takePhoto", .null, timeout: .milliseconds(2500))
        #expect(result == ["resource": "r"])
        let asked = try #require(link.asked.withLock { $0.first })
        #expect(asked.params["timeoutMilliseconds"] == 2500)
        #expect(asked.timeout == .milliseconds(3500))
    }

    @Test("A line that cannot be read does not hide others, and the next page begins after it")
    func unreadableLines() async throws {
        let link = ScriptedLink([
            ["devices": [["id": .string(id), "name": "front"], ["id": "?", "name": "rear"]], "more": true],
            ["devices": [["id": "?", "name": "side"]], "more": true],
            ["devices": [["id": .string(id), "name": "yard"]], "more": false],
        ])
        let client = ThingModelClient(link: link)
        #expect(try await client.devices().map(\.name) == ["front", "yard"])
        #expect(link.asked.withLock { $0.map { $0.params["after"] } } == [nil, "rear", "side"])

        let good: JSONValue = ["device": "a", "name": "a", "value": 1, "version": 1]
        let readings = ThingModelClient(
            link: ScriptedLink([["readings": [good, ["device": "b", "version": "?"], good], "more": false]]))
        let read = try await readings.readMany(["a", "b", "c"], "x")
        #expect(read.map(\.device) == ["a", "b", "a"], "one reading for each device, in order")
        #expect(read.map { $0.error?.code } == [nil, .modelReceiveFailed, nil])

        let event = ThingEvent(id: 7, device: try #require(DeviceID(rawValue: id)), topic: "a", body: 1, t: 1)
        let page = try await EventClient(
            link: ScriptedLink([["events": [["id": 8], event.json, ["id": 6, "device": "?"]], "more": true]])
        ).list()
        #expect(page == EventPage(events: [event], next: 6))

        let user: JSONValue = ["accessId": "a", "role": "guest"]
        let users = try DeviceMethod.users.result(["users": [["accessId": "b", "role": "robot"], user]])
        #expect(users.users.map(\.accessId) == ["a"])
    }

    @Test("Devices are read, and malformed ones are skipped")
    func devices() async throws {
        let link = ScriptedLink(
            .success([
                "devices": [
                    ["id": .string(id), "name": "front", "role": "owner", "online": true, "presenceSince": 5],
                    ["id": "x"], 3,
                ]
            ]))
        let devices = try await ThingModelClient(link: link).devices()
        #expect(devices.map(\.name) == ["front"])
        #expect(devices.first?.isOnline == true)
        #expect(devices.first?.presenceSince == 5)
    }

    @Test(
        "A malformed answer is 21004, and 21003 when a model is read",
        arguments: [JSONValue.null, [:], [], ["version": "1"]])
    func damaged(answer: JSONValue) async throws {
        let client = ThingModelClient(link: ScriptedLink(.success(answer)))
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await client.devices() }, { _ = try await client.show("x") },
            { _ = try await client.write("x", "p", 1) }, { _ = try await client.addUserProperty("x", "n", 1) },
            { _ = try await client.deleteUserProperty("x", "n") },
        ]
        for call in calls {
            let error = await #expect(throws: IoTError.self) { try await call() }
            #expect(error?.code == .modelReceiveFailed)
        }
        let reads: [@Sendable () async throws -> Void] = [
            { _ = try await client.read("x") }, { _ = try await client.readMany(["x"], "p") },
            { _ = try await client.export("x") },
        ]
        for read in reads {
            let error = await #expect(throws: IoTError.self) { try await read() }
            #expect(error?.code == .modelReadFailed)
        }
    }

    @Test("Long lists are requested in pages, and each device is requested once")
    func pages() async throws {
        func page(_ names: [String], more: Bool) -> JSONValue {
            let readings = names.map { name -> JSONValue in
                ["device": .string(id), "name": .string(name), "value": 1, "version": 1]
            }
            return ["readings": .array(readings), "more": .bool(more)]
        }
        let all = ScriptedLink([page(["a", "b"], more: true), page(["c"], more: false)])
        #expect(try await ThingModelClient(link: all).readMany(nil, "x").map(\.name) == ["a", "b", "c"])
        #expect(all.asked.withLock { $0.map(\.params) } == [["path": "x"], ["path": "x", "after": "b"]])

        let some = ScriptedLink([page(["a", "b"], more: true), page(["c"], more: false)])
        #expect(try await ThingModelClient(link: some).readMany(["a", "b", "c"], "x").count == 3)
        #expect(
            some.asked.withLock { $0.map { $0.params["devices"] } } == [["a", "b", "c"], ["c"]])

        // The client stops when the hub makes no progress.
        let stuck = ScriptedLink([page(["a"], more: true)])
        #expect(try await ThingModelClient(link: stuck).readMany(nil, "x").count == 2)
    }

    @Test("Pushes of the model become updates, in order; other pushes are skipped")
    func updates() async throws {
        let device = try #require(DeviceID(rawValue: id))
        let link = ScriptedLink(
            .success(.null),
            pushes: [
                LinkPush(
                    method: "property.update",
                    params: [
                        "device": .string(id), "path": "ProReadonly.x", "value": ["stVal": 1, "t": 2], "version": 3,
                    ]),
                LinkPush(method: "session.note"), LinkPush(method: "property.update", params: ["device": .string(id)]),
                LinkPush(method: "device.presence", params: ["device": .string(id), "online": false]),
            ])
        var updates: [ModelUpdate] = []
        for await update in ThingModelClient(link: link).updates() { updates.append(update) }
        #expect(
            updates == [
                .property(
                    device: device, PropertyChange(path: "ProReadonly.x", value: ["stVal": 1, "t": 2], version: 3)),
                .presence(device: device, isOnline: false),
            ])
    }
}
