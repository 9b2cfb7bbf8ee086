import IoTCore
import Logging
import Synchronization
import Testing

@testable import ThingModel

@Suite(.timeLimit(.minutes(1))) struct DeviceModelTests {
    private let hub = HubStandIn()

    private func makeModel() throws -> DeviceModel {
        DeviceModel(
            schema: try ThingSchema([
                .readonly("viewers", .uint32), .readonly("rate", .float32),
                .writable("limit", .int32(1...9, default: 4)), .action("cameraOn", .int32(0...1)),
                .action("move", .structure("move_t", [.init("x", .int32), .init("y", .int32)])),
            ]), link: hub, logger: Logger(label: "test"), now: { 100 })
    }

    /// Runs the device, and calls `body` after its first contact with the hub.
    private func run(_ model: DeviceModel, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await model.run() }
            hub.become(.online)
            await expect(firstContact)
            try await body()
            group.cancelAll()
        }
    }

    /// Expects the methods of the device's next requests.
    private func expect(_ methods: [String], sourceLocation: SourceLocation = #_sourceLocation) async {
        for method in methods {
            let next = await hub.nextMethod()
            #expect(next == method, sourceLocation: sourceLocation)
        }
    }

    private let firstContact = ["model.login", "model.applied", "model.applied", "model.applied", "model.applied"]

    @Test("When it comes online, the device logs in with the earlier reports and applies every setting")
    func login() async throws {
        let model = try makeModel()
        let limits = Mutex<[JSONValue]>([])
        model.onWrite("limit") { value in limits.withLock { $0.append(value) } }
        try model.report("ProConst._versionInfo.swVer", 7)
        try model.report("ProReadonly.viewers.stVal", 2)
        try await run(model) { () async throws in
            #expect(try hub.read("ProConst._versionInfo.swVer") == 7)
            #expect(try hub.read("ProReadonly.viewers") == ["stVal": 2, "t": 100])
            #expect(limits.withLock { $0 } == [4])
            #expect(model.document.appliedVersions.count == 4)
        }
    }

    @Test("Each change of the document and each action is told once, in its order")
    func changes() async throws {
        let model = try makeModel()
        let told = Mutex<[DeviceChange]>([])
        model.onChange { change in told.withLock { $0.append(change) } }
        model.onAction("cameraOn") { $0 }
        try model.report("ProReadonly.viewers.stVal", 2)
        try model.report("ProReadonly.viewers.stVal", 2)
        try await run(model) { () async throws in
            hub.become(.offline)
            hub.state.withLock { _ = try? $0.document?.write("ProWritable.limit.setVal", 8, at: 5) }
            hub.become(.online)
            await expect(["model.login", "model.applied"])
            _ = try await hub.ask("action.take", ["path": "Action.cameraOn", "value": 1])
        }
        let changes = told.withLock { $0 }.filter { !$0.path.contains("._") }
        #expect(
            changes == [
                DeviceChange(path: "ProReadonly.cameraOn", value: 0),
                DeviceChange(path: "ProReadonly.move", value: ["x": 0, "y": 0]),
                DeviceChange(path: "ProReadonly.rate", value: 0), DeviceChange(path: "ProReadonly.viewers", value: 0),
                DeviceChange(path: "ProReadonly.viewers", value: 2), DeviceChange(path: "ProWritable.limit", value: 4),
                DeviceChange(path: "ProWritable.limit", value: 8), DeviceChange(path: "Action.cameraOn", value: 1),
            ])
        #expect(changes.map(\.isMoment) == [false, false, false, false, false, false, false, true])
    }

    @Test("A new session logs in again and gets only the changed settings")
    func loginAgain() async throws {
        let model = try makeModel()
        let limits = Mutex<[JSONValue]>([])
        model.onWrite("limit") { value in limits.withLock { $0.append(value) } }
        try await run(model) { () async throws in
            hub.become(.offline)
            hub.state.withLock { _ = try? $0.document?.write("ProWritable.limit.setVal", 8, at: 5) }
            hub.become(.online)
            await expect(["model.login", "model.applied"])
            #expect(limits.withLock { $0 } == [4, 8])
            #expect(try model.document.read("ProWritable.limit").value == ["setVal": 8, "t": 5])
        }
    }

    @Test("While a report is being sent, later values replace each other; an unchanged value is not sent")
    func coalesced() async throws {
        let model = try makeModel()
        try await run(model) { () async throws in
            hub.hold()
            try model.report("ProReadonly.viewers.stVal", 1)
            await expect(["model.report"])
            for viewers in 2...500 { try model.report("ProReadonly.viewers.stVal", .integer(Int64(viewers))) }
            try model.report("ProReadonly.rate", ["stVal": 25])
            try model.report("ProReadonly.rate.stVal", 25)
            hub.release()
            await expect(["model.report"])
            let reports = hub.state.withLock { $0.requests }.filter { $0.method == "model.report" }
            #expect(
                reports.last?.params["changes"] == [
                    ["path": "ProReadonly.viewers", "value": ["stVal": 500, "t": 100]],
                    ["path": "ProReadonly.rate", "value": ["stVal": 25, "t": 100]],
                ])
            #expect(reports.count == 2)
        }
    }

    @Test("After a failed report the device logs in again")
    func failedReport() async throws {
        let model = try makeModel()
        try await run(model) { () async throws in
            hub.failNext("model.report", IoTError(.messageTimeout))
            try model.report("ProReadonly.viewers.stVal", 3)
            await expect(["model.report", "model.login"])
            try model.report("ProReadonly.rate.stVal", 1)
            await expect(["model.report"])
            #expect(try hub.read("ProReadonly.viewers.stVal") == 3)
        }
    }

    @Test("A report that the schema does not allow is refused at once")
    func wrongReport() throws {
        let model = try makeModel()
        try expectError(.valueInvalid) { try model.report("ProReadonly.viewers.stVal", "many") }
        try expectError(.pathInvalid) { try model.report("ProReadonly.none.stVal", 1) }
        try expectError(.pathInvalid) { try model.report("ProWritable.limit.setVal", 1) }
    }

    @Test("A delivered write is applied once and acknowledged; a late older one is skipped")
    func delivery() async throws {
        let model = try makeModel()
        let limits = Mutex<[JSONValue]>([])
        model.onWrite("limit") { value in limits.withLock { $0.append(value) } }
        try await run(model) { () async throws in
            let delivery: JSONValue = ["path": "ProWritable.limit", "value": ["setVal": 6, "t": 9], "version": 20]
            _ = try await hub.ask("model.write", delivery)
            await expect(["model.applied"])
            _ = try await hub.ask("model.write", delivery)
            _ = try await hub.ask(
                "model.write", ["path": "ProWritable.limit", "value": ["setVal": 5, "t": 8], "version": 19])
            #expect(limits.withLock { $0 } == [4, 6])
            #expect(model.document.appliedVersions["ProWritable.limit"] == 20)
        }
    }

    @Test("A setting that the device cannot apply is not acknowledged, and the hub gets the reason")
    func refusedDelivery() async throws {
        let model = try makeModel()
        struct Broken: Error {}
        try await run(model) { () async throws in
            model.onWrite("limit") { _ in throw Broken() }
            let cases: [(JSONValue, ErrorCode)] = [
                (["path": "ProWritable.limit", "value": ["setVal": 6, "t": 9], "version": 20], .actionFailed),
                (["path": "ProWritable.limit", "value": ["setVal": 60, "t": 9], "version": 20], .valueInvalid),
                (["path": "ProWritable.none", "value": ["setVal": 6, "t": 9], "version": 20], .pathInvalid),
                (["path": "ProReadonly.viewers", "value": 1, "version": 20], .pathInvalid),
                (["path": "ProWritable.limit"], .invalidRequest), ([:], .invalidRequest),
            ]
            for (params, code) in cases {
                let error = await #expect(throws: IoTError.self) { _ = try await hub.ask("model.write", params) }
                #expect(error?.code == code)
            }
            #expect(try model.document.read("ProWritable.limit.setVal").value == 4)
            #expect(model.document.appliedVersions["ProWritable.limit"] == 1)
        }
    }

    @Test("Writes to one property are applied one at a time, in order")
    func serialWrites() async throws {
        let model = try makeModel()
        let door = Door()
        let entered = Door()
        let log = Mutex<[String]>([])
        try await run(model) { () async throws in
            model.onWrite("limit") { value in
                log.withLock { $0.append("begin \(value.jsonText)") }
                entered.open()
                await door.wait()
                log.withLock { $0.append("end \(value.jsonText)") }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    _ = try await hub.ask(
                        "model.write", ["path": "ProWritable.limit", "value": ["setVal": 5, "t": 1], "version": 30])
                }
                await entered.wait()
                group.addTask {
                    _ = try await hub.ask(
                        "model.write", ["path": "ProWritable.limit", "value": ["setVal": 6, "t": 1], "version": 31])
                }
                door.open()
                try await group.waitForAll()
            }
            #expect(log.withLock { $0 } == ["begin 5", "end 5", "begin 6", "end 6"])
            #expect(try model.document.read("ProWritable.limit.setVal").value == 6)
        }
    }

    @Test("An action reaches its handler in every form that the hub or a user may send")
    func actions() async throws {
        let model = try makeModel()
        model.onAction("cameraOn") { value in ["on": value] }
        model.onAction("move") { value in value["y"] ?? .null }
        try await run(model) { () async throws in
            let bare: JSONValue = ["path": "Action.cameraOn", "value": 0, "origin": "u/owner", "t": 55]
            #expect(try await hub.ask("action.take", bare) == ["value": ["on": 0]])
            #expect(try model.document.read("Action.cameraOn").value == ["ctlVal": 0, "origin": "u/owner", "t": 55])
            let wrapped: JSONValue = ["path": "Action.cameraOn", "value": ["stVal": 1]]
            #expect(try await hub.ask("action.take", wrapped) == ["value": ["on": 1]])
            let structure: JSONValue = ["path": "Action.move", "value": ["x": 1, "y": 2]]
            #expect(try await hub.ask("action.take", structure) == ["value": 2])
        }
    }

    @Test("A failed action returns the right code")
    func actionFailures() async throws {
        struct Jammed: Error {}
        let model = try makeModel()
        model.onAction("cameraOn") { value in
            if value == 1 { throw Jammed() }
            throw IoTError(.cameraOff)
        }
        try await run(model) { () async throws in
            let cases: [(JSONValue, ErrorCode)] = [
                (["path": "Action.cameraOn", "value": 1], .actionFailed),
                (["path": "Action.cameraOn", "value": 0], .cameraOff),
                (["path": "Action.cameraOn", "value": 2], .valueInvalid),
                (["path": "Action.none", "value": 1], .pathInvalid),
                (["path": "Action._otaUpgrade", "value": 1], .actionNotSupported), (["value": 1], .invalidRequest),
            ]
            for (params, code) in cases {
                let error = await #expect(throws: IoTError.self) { _ = try await hub.ask("action.take", params) }
                #expect(error?.code == code)
            }
        }
    }

    @Test("A running action is 20100, and can be executed again afterwards")
    func busy() async throws {
        let model = try makeModel()
        let door = Door()
        let entered = Door()
        model.onAction("cameraOn") { value in
            entered.open()
            await door.wait()
            return value
        }
        try await run(model) { () async throws in
            let params: JSONValue = ["path": "Action.cameraOn", "value": 1]
            async let first = hub.ask("action.take", params)
            await entered.wait()
            let error = await #expect(throws: IoTError.self) { _ = try await hub.ask("action.take", params) }
            #expect(error?.code == .deviceBusy)
            door.open()
            #expect(try await first == ["value": 1])
            #expect(try await hub.ask("action.take", params) == ["value": 1])
        }
    }

    @Test("The model runs until the link session ends", .timeLimit(.minutes(1)))
    func ends() async throws {
        let model = try makeModel()
        let hasEnded = Atomic(false)
        async let running: Void = {
            await model.run()
            hasEnded.store(true, ordering: .relaxed)
        }()
        hub.become(.online)
        await expect(firstContact)
        let hasEndedEarly = hasEnded.load(ordering: .relaxed)
        #expect(!hasEndedEarly)
        hub.status.finish()
        await running
    }
}
