import IoTCore
import IoTLink
import Logging
import Synchronization
import Testing

@testable import ThingModel

@Suite("A device's model for callers on its own network", .timeLimit(.minutes(1))) struct DeviceModelLANTests {
    private let hub = HubStandIn()
    private let limits = Limits()

    /// The applied values.
    private final class Limits: Sendable {
        private let values = Mutex<[JSONValue]>([])
        var all: [JSONValue] { values.withLock { $0 } }
        func add(_ value: JSONValue) { values.withLock { $0.append(value) } }
    }

    private static let firstContact = [
        "model.login", "model.applied", "model.applied", "model.applied", "model.applied",
    ]

    private func makeModel() throws -> DeviceModel {
        let model = DeviceModel(
            schema: try ThingSchema([.readonly("viewers", .uint32), .writable("limit", .int32(1...9, default: 4))]),
            link: hub, logger: Logger(label: "test"), now: { 100 })
        return model
    }

    private func ask(_ method: String, _ params: JSONValue, isLocal: Bool = true) async throws -> JSONValue {
        guard let handler = hub.state.withLock({ $0.handlers[method] }) else { throw IoTError(.internalFailure) }
        var request = LinkRequest(id: "1", method: method, from: Principal("u/ann"), params: params, t: 0, deadline: 0)
        if isLocal {
            request.grant = LANGrantClaims(
                sub: .device(.random()), from: Principal("u/ann")!, actions: .all, owner: false,
                key: DeviceKey().publicKey.fingerprint, jti: "1", iat: 0, exp: 1)
        }
        return try await handler(request)
    }

    private func write(_ value: JSONValue, ifVersion: Int64? = nil, path: String = "ProWritable.limit.setVal")
        async throws
        -> JSONValue
    {
        try await ask(
            "property.write", PropertyWrite(device: "x", path: path, value: value, ifVersion: ifVersion).json)
    }

    private func code(_ body: () async throws -> JSONValue) async -> ErrorCode? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? IoTError)?.code
        }
    }

    private func run(_ model: DeviceModel, isOnline: Bool, _ body: () async throws -> Void) async throws {
        model.onWrite("limit") { [limits] value in limits.add(value) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await model.run() }
            if isOnline {
                hub.become(.online)
                await expect(Self.firstContact)
            } else {
                while hub.state.withLock({ $0.handlers["property.write"] == nil }) { await Task.yield() }
            }
            try await body()
            group.cancelAll()
        }
    }

    private func expect(_ methods: [String], sourceLocation: SourceLocation = #_sourceLocation) async {
        for method in methods {
            let next = await hub.nextMethod()
            #expect(next == method, sourceLocation: sourceLocation)
        }
    }

    @Test("It reads and writes by itself; what it wrote, it tells the hub when that is back")
    func writes() async throws {
        let model = try makeModel()
        try await run(model, isOnline: true) { () async throws in
            hub.become(.offline)
            let written = try await write(7)
            #expect(written["value"] == ["setVal": 7, "t": 100] && written["pending"] == false)
            #expect(limits.all == [4, 7])
            let read = try await ask("property.read", ["device": "x", "path": "ProWritable.limit.setVal"])
            #expect(read["value"] == 7 && read["version"] == written["version"])

            // Somebody wrote at the hub before, which the device did not learn.
            hub.state.withLock { _ = try? $0.document?.write("ProWritable.limit.setVal", 8, at: 50) }
            hub.become(.online)
            await expect(["model.login", "lan.written"])
            let told = hub.state.withLock { $0.requests.last?.params }
            #expect(told?["user"] == "u/ann" && told?["path"] == "ProWritable.limit.setVal" && told?["value"] == 7)
            #expect(told?["t"] == 100)
            #expect(limits.all == [4, 7], "the hub's older value did not come in between")
        }
    }

    @Test("What the hub refuses is taken back: the device logs in again and gets the hub's value")
    func refused() async throws {
        let model = try makeModel()
        try await run(model, isOnline: true) { () async throws in
            hub.become(.offline)
            _ = try await write(7)
            // Somebody wrote at the hub later.
            hub.state.withLock { _ = try? $0.document?.write("ProWritable.limit.setVal", 8, at: 200) }
            hub.failNext("lan.written", IoTError(.versionConflict))
            hub.become(.online)
            await expect(["model.login"])
            while limits.all.last != 8 { _ = await hub.nextMethod() }
            #expect(limits.all == [4, 7, 8])
        }
    }

    @Test("What the hub refuses is taken back also if nobody has written at the hub meanwhile")
    func refusedAndUnchanged() async throws {
        let model = try makeModel()
        try await run(model, isOnline: true) { () async throws in
            hub.become(.offline)
            _ = try await write(7)
            // The user may not write any more.
            hub.failNext("lan.written", IoTError(.relationInvalid))
            hub.become(.online)
            await expect(["model.login", "lan.written", "model.login", "model.applied"])
            #expect(limits.all == [4, 7, 4])
            #expect(try model.document.read("ProWritable.limit.setVal").value == 4)
        }
    }

    @Test("The hub's setting with the value that was written counts, also if the answer to the write was lost")
    func lostAnswer() async throws {
        let model = try makeModel()
        try await run(model, isOnline: true) { () async throws in
            hub.become(.offline)
            _ = try await write(7)
            // The hub has the value, with an earlier time than the device.
            hub.state.withLock { _ = try? $0.document?.write("ProWritable.limit.setVal", 7, at: 50) }
            hub.become(.online)
            await expect(["model.login", "model.applied"])
            #expect(limits.all == [4, 7, 7])
        }
    }

    @Test("Built-in settings, user properties and all that is not writable are refused; a conditional write can lose")
    func refusals() async throws {
        let model = try makeModel()
        try await run(model, isOnline: false) { () async throws in
            #expect(await code { try await write(3, path: "ProWritable._logLevel.setVal") } == .builtInNotWritable)
            #expect(await code { try await write(3, path: "ProUser.note.val") } == .lanNotAllowed)
            #expect(await code { try await write(3, path: "ProReadonly.viewers.stVal") } == .pathInvalid)
            #expect(await code { try await write(99) } == .valueInvalid)
            #expect(await code { try await write(3, ifVersion: 5) } == .versionConflict)
            #expect(await code { try await write(3, ifVersion: 0) } == nil)
            #expect(
                await code { try await write(4, ifVersion: 0) } == .versionConflict, "the hub does not know the first")
            #expect(limits.all == [3])
            #expect(
                await code { try await ask("property.read", ["device": "x", "path": ""], isLocal: false) }
                    == .invalidRequest, "from the hub")
        }
    }
}
