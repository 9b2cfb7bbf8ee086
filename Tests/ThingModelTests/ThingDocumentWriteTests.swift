import IoTCore
import Testing
import ThingModel

@Suite struct ThingDocumentWriteTests {
    @Test("A bare value at .setVal and {\"setVal\":…} at the object are equivalent")
    func bothForms() throws {
        var bare = try sampleDocument()
        var wrapped = bare
        let change = try bare.write("ProWritable._logLevel.setVal", 2, at: 1_581_993_565)
        _ = try wrapped.write("ProWritable._logLevel", ["setVal": 2], at: 1_581_993_565)
        #expect(bare == wrapped)
        #expect(try bare.read("ProWritable._logLevel").value == ["setVal": 2, "t": 1_581_993_565])
        #expect(
            change
                == PropertyChange(
                    path: "ProWritable._logLevel", value: ["setVal": 2, "t": 1_581_993_565], version: 2,
                    previous: ["setVal": 0, "t": 0]))
    }

    @Test("An object that was read can be written back; the hub sets its time")
    func readBack() throws {
        var document = try sampleDocument()
        _ = try document.write("ProWritable._logLevel", ["setVal": 2, "t": 99, "origin": "x"], at: 7)
        #expect(try document.read("ProWritable._logLevel").value == ["setVal": 2, "t": 7])
    }

    @Test("A nested member is replaced and its siblings are kept")
    func deepMember() throws {
        var document = try sampleDocument()
        _ = try document.write("ProWritable.recordPlan.setVal.timeSection1.begin", 60, at: 1)
        _ = try document.write("ProWritable.recordPlan.setVal.timeSection1.desc", "白天", at: 2)
        #expect(
            try document.read("ProWritable.recordPlan").value
                == [
                    "setVal": [
                        "timeSection1": ["desc": "白天", "enable": 0, "dayOfWeek": 0, "begin": 60, "end": 0]
                    ], "t": 2,
                ])
    }

    @Test(
        "A value that the schema does not allow is 20102 with its leaf, and changes nothing",
        arguments: [
            ("ProWritable._logLevel.setVal", #""2""#, "ProWritable._logLevel.setVal"),
            ("ProWritable._logLevel.setVal", "2.5", "ProWritable._logLevel.setVal"),
            ("ProWritable._logLevel.setVal", "99", "ProWritable._logLevel.setVal"),
            ("ProWritable._logLevel.setVal", "-1", "ProWritable._logLevel.setVal"),
            ("ProWritable._logLevel", "2", "setVal"), ("ProWritable._logLevel", "{}", "setVal"),
            ("ProWritable._logLevel", #"{"setVal":1,"x":1}"#, "ProWritable._logLevel.x"),
            ("ProWritable._logLevel", #"{"ctlVal":1}"#, "setVal"),
            ("ProWritable.recordPlan.setVal", #"{"timeSection1":{"begin":1}}"#, "timeSection1.desc is missing"),
            ("ProWritable.recordPlan.setVal.timeSection1.enable", "2", "timeSection1.enable"),
            ("ProWritable._cloudStoage.setVal.serviceParm", "1", "ProWritable._cloudStoage.setVal.serviceParm"),
        ])
    func outsideSchema(path: String, text: String, part: String) throws {
        var document = try sampleDocument()
        let before = document
        let error = try expectError(.valueInvalid) { _ = try document.write(path, JSONValue(parsing: text), at: 1) }
        #expect(error.message.contains(part), "\(error.message)")
        #expect(document == before)
    }

    @Test(
        "A path that cannot be written is 20101 with a remedy, and changes nothing",
        arguments: [
            ("", "one property"), ("ProWritable", "one property"),
            ("ProWritable.none.setVal", "ProWritable has no 'none'"),
            ("ProWritable._logLevel.t", "the hub fills it in"), ("ProWritable._logLevel.stVal", "setVal"),
            ("ProWritable._logLevel.setVal.x", "has no members"),
            ("ProWritable.recordPlan.setVal.timeSection9", "members of"),
            ("ProReadonly.cameraOn.stVal", "iotctl action ID Action.cameraOn.ctlVal JSON"),
            ("ProReadonly._online", "only the device"),
            ("ProReadonly.none", "has no 'none'"), ("ProConst._versionInfo.swVer", "constant"),
            ("Action.cameraOn.ctlVal", "iotctl action"), ("Event.x", "Event has no 'x'"),
            ("ProUser.none.val", "user-property add"), ("ProUser._buildIn.t", "the hub fills it in"),
        ])
    func illegalPath(path: String, part: String) throws {
        var document = try sampleDocument()
        let before = document
        let error = try expectError(.pathInvalid) { _ = try document.write(path, 1, at: 1) }
        let text = "\(error.message); \(error.remedy)"
        #expect(text.contains(part), "\(text)")
        #expect(document == before)
    }

    @Test("A conditional write that lost the race changes nothing and returns the current value and version")
    func conditional() throws {
        var document = try sampleDocument()
        let first = try document.write("ProWritable._logLevel.setVal", 1, at: 1)
        _ = try document.write("ProWritable._logLevel.setVal", 2, at: 2, ifVersion: first.version)
        let error = try expectError(.versionConflict) {
            _ = try document.write("ProWritable._logLevel.setVal", 3, at: 3, ifVersion: first.version)
        }
        #expect(error.versionConflict == VersionConflict(path: "ProWritable._logLevel.setVal", value: 2, version: 3))
        #expect(try document.read("ProWritable._logLevel.setVal") == PropertyReading(value: 2, version: 3))
    }

    @Test("A write to another property does not affect a conditional write")
    func versionsByProperty() throws {
        var document = try sampleDocument()
        let version = try document.read("ProWritable._logLevel").version
        _ = try document.write("ProWritable._otaMode.setVal", 1, at: 1)
        #expect(try document.write("ProWritable._logLevel.setVal", 1, at: 1, ifVersion: version).version == 3)
        #expect(document.version == 3)
    }
}
