import IoTCore
import Testing
import ThingModel

@Suite struct ThingDocumentLoginTests {
    @Test("A report accepts bare values, whole objects with the device's own time, and members")
    func reports() throws {
        var document = try sampleDocument()
        _ = try document.report("ProReadonly.cameraOn.stVal", 1, at: 10)
        #expect(try document.read("ProReadonly.cameraOn").value == ["stVal": 1, "t": 10])
        _ = try document.report("ProReadonly.cameraOn", ["stVal": 0, "t": 8], at: 11)
        #expect(try document.read("ProReadonly.cameraOn").value == ["stVal": 0, "t": 8])
        _ = try document.report("ProConst._versionInfo.swVer", 2019, at: 12)
        #expect(try document.read("ProConst._versionInfo").value == ["sdkVer": 0, "swVer": 2019, "hwVer": 0])
        _ = try document.report("ProReadonly._online.stVal", 1, at: 13, by: .hub)
    }

    @Test(
        "A device may report only its own properties",
        arguments: [
            ("ProWritable._logLevel.setVal", ErrorCode.pathInvalid), ("ProUser._buildIn.val", .pathInvalid),
            ("Action.cameraOn.ctlVal", .pathInvalid), ("ProReadonly", .pathInvalid), ("", .pathInvalid),
            ("ProReadonly.none", .pathInvalid), ("ProReadonly._online.stVal", .pathInvalid),
            ("ProReadonly.cameraOn", .valueInvalid), ("ProReadonly.cameraOn.setVal", .pathInvalid),
        ])
    func foreignReports(path: String, code: ErrorCode) throws {
        var document = try sampleDocument()
        try expectError(code) { _ = try document.report(path, 1, at: 1) }
    }

    @Test("A write while the device is offline is delivered once, at its login")
    func delivery() throws {
        var hub = try sampleDocument()
        var device = try sampleDocument()
        let first = try hub.login(ModelLogin(of: device), at: 1)
        // A device that starts has none of the hub's settings, so that it gets them all.
        #expect(first.writable.count == 4)
        for (name, delivery) in first.writable { try hub.markApplied("ProWritable.\(name)", version: delivery.version) }
        #expect(hub.pendingPaths.isEmpty)

        let change = try hub.write("ProWritable._logLevel.setVal", 3, at: 2)
        #expect(hub.pendingPaths == ["ProWritable._logLevel"])
        var versions = Dictionary(
            uniqueKeysWithValues: first.writable.map { ("ProWritable.\($0.key)", $0.value.version) })
        var login = ModelLogin(of: device)
        login.writableVersions = versions
        let second = try hub.login(ModelLogin(parameters: JSONValue(parsing: login.json.jsonText)), at: 3)
        #expect(second.writable == ["_logLevel": Delivery(value: change.value, version: change.version)])
        try hub.markApplied("ProWritable._logLevel", version: change.version)

        versions["ProWritable._logLevel"] = change.version
        login.writableVersions = versions
        #expect(try hub.login(login, at: 4).writable.isEmpty)
        #expect(hub.pendingPaths.isEmpty)
        _ = try device.write("ProWritable._logLevel.setVal", 3, at: 2)
    }

    @Test("An old or impossible acknowledgement has no effect")
    func acknowledgements() throws {
        var hub = try sampleDocument()
        _ = try hub.write("ProWritable._logLevel.setVal", 3, at: 2)
        try hub.markApplied("ProWritable._logLevel", version: 1)
        #expect(hub.pendingPaths.contains("ProWritable._logLevel"))
        try hub.markApplied("ProWritable._logLevel", version: 99)
        #expect(hub.pendingPaths.contains("ProWritable._logLevel"))
        try hub.markApplied("ProWritable._logLevel", version: 2)
        try hub.markApplied("ProWritable._logLevel", version: 1)
        #expect(!hub.pendingPaths.contains("ProWritable._logLevel"))
    }

    @Test("A login stores the device's own properties, except whether it is online")
    func selfDescription() throws {
        var hub = try sampleDocument()
        _ = try hub.report("ProReadonly._online.stVal", 1, at: 1, by: .hub)
        var login = ModelLogin(of: try sampleDocument())
        login.constants["_versionInfo"] = ["sdkVer": 1, "swVer": 2, "hwVer": 3]
        login.readonly["cameraOn"] = ["stVal": 1, "t": 5]
        login.readonly["_online"] = ["stVal": 0, "t": 5]
        let outcome = try hub.login(login, at: 6)
        #expect(outcome.changes.map(\.path) == ["ProConst._versionInfo", "ProReadonly.cameraOn"])
        #expect(try hub.read("ProReadonly._online.stVal").value == 1)
        #expect(try hub.read("ProReadonly.cameraOn").value == ["stVal": 1, "t": 5])
    }

    @Test("A login with a value that its own schema does not allow is refused as a whole")
    func wrongLogin() throws {
        var hub = try sampleDocument()
        let before = hub
        var login = ModelLogin(of: hub)
        login.constants["_versionInfo"] = ["sdkVer": 1, "swVer": 2, "hwVer": 3]
        login.readonly["cameraOn"] = ["stVal": "on"]
        try expectError(.valueInvalid) { _ = try hub.login(login, at: 1) }
        #expect(hub == before)
        for text in ["{}", #"{"schema":{},"constants":1}"#, #"{"schema":{},"writableVersions":{"x":"1"}}"#] {
            try expectError(.invalidRequest) { _ = try ModelLogin(parameters: JSONValue(parsing: text)) }
        }
    }

    @Test("A new schema keeps the settings that are still valid and lists the dropped ones")
    func schemaChange() throws {
        var document = ThingDocument(
            schema: try ThingSchema([
                .writable("same", .int32), .writable("narrower", .int32), .writable("gone", .string(9)),
                .writable("plan", .structure("plan_t", [.init("begin", .int32), .init("old", .int32)])),
                .action("reboot", .int32),
            ]))
        _ = try document.write("ProWritable.same.setVal", 7, at: 1)
        _ = try document.write("ProWritable.narrower.setVal", 70, at: 1)
        _ = try document.write("ProWritable.plan.setVal", ["begin": 5, "old": 6], at: 1)
        _ = try document.addUserProperty("note", "stays", at: 1)
        let sameVersion = try document.read("ProWritable.same").version
        let change = try document.adopt(
            try ThingSchema([
                .writable("same", .int32(0...9)), .writable("narrower", .int32(0...9)), .writable("new", .int32(3...4)),
                .writable(
                    "plan", .structure("plan_t", [.init("begin", .int32), .init("end", .int32(0...9, default: 8))])),
            ]))
        #expect(
            change.dropped.map(\.path) == [
                "ProWritable.gone.setVal", "ProWritable.narrower.setVal", "ProWritable.plan.setVal.old",
            ])
        #expect(change.dropped[1].value == 70)
        #expect(
            try document.read("ProWritable.same")
                == PropertyReading(value: ["setVal": 7, "t": 1], version: sameVersion))
        #expect(try document.read("ProWritable.narrower.setVal").value == 0)
        #expect(try document.read("ProWritable.plan.setVal").value == ["begin": 5, "end": 8])
        #expect(try document.read("ProWritable.new.setVal").value == 3)
        #expect(try document.read("ProUser.note.val").value == "stays")
        try expectError(.pathInvalid) { _ = try document.read("Action.reboot") }
        #expect(change.changes.contains { $0.path == "ProWritable.gone" && $0.value == .null })
        #expect(try document.adopt(document.schema).changes.isEmpty)
    }

    @Test("A setting that was never written becomes the new schema's default; a written one is kept")
    func newDefaults() throws {
        func schema(_ limit: Int32) throws -> ThingSchema {
            try ThingSchema([
                .writable("unset", .int32(1...limit, default: limit)),
                .writable("set", .int32(1...limit, default: limit)),
            ])
        }
        var document = try ThingDocument(schema: schema(8))
        _ = try document.write("ProWritable.set.setVal", 3, at: 1)
        let change = try document.adopt(schema(20))
        #expect(try document.read("ProWritable.unset").value == ["setVal": 20, "t": 0])
        #expect(try document.read("ProWritable.set").value == ["setVal": 3, "t": 1])
        #expect(change.dropped.isEmpty)
        #expect(change.changes.map(\.path) == ["ProWritable.unset"])
    }
}
