import IoTCore
import Testing
import ThingModel

@Suite struct ThingDocumentTests {
    @Test("A new document has exactly the form of the vendor's sample")
    func initialShape() throws {
        // The sample of the IoT video guide, with the default of every value.
        let sample = try JSONValue(
            parsing: """
                {"Action":{"_otaVersion":{"ctlVal":"","origin":"","t":0},"_otaUpgrade":{"ctlVal":0,"origin":"","t":0},
                  "cameraOn":{"ctlVal":0,"origin":"","t":0}},
                 "ProConst":{"_productInfo":{"productModel":"","productID":"",
                   "funcCode":0,"revision":0,"revisionUtc":0},
                  "_versionInfo":{"sdkVer":0,"swVer":0,"hwVer":0}},
                 "ProWritable":{"_otaMode":{"setVal":0,"t":0},"_logLevel":{"setVal":0,"t":0},
                  "_cloudStoage":{"setVal":{"serviceType":0,"utcExpire":0,"pause":0,"serviceParm":""},"t":0},
                  "recordPlan":{"setVal":{"timeSection1":
                   {"desc":"","enable":0,"dayOfWeek":0,"begin":0,"end":0}},"t":0}},
                 "ProReadonly":{"_online":{"stVal":0,"t":0},"_otaVersion":{"stVal":"","t":0},
                  "_otaUpgrade":{"stVal":0,"t":0},"cameraOn":{"stVal":0,"t":0}},
                 "ProUser":{"_buildIn":{"t":0,"val":{"almEvtPushEna":0,"nickName":""}}}}
                """)
        let document = try sampleDocument()
        #expect(document.value == sample)
        #expect(document.version == 1)
    }

    @Test("Reading works at every depth")
    func read() throws {
        var document = try sampleDocument()
        _ = try document.addUserProperty("note", ["a": ["b": 7]], at: 5)
        #expect(try document.read("").value == document.value)
        #expect(try document.read("Action").value.objectValue?.count == 3)
        #expect(try document.read("ProWritable._logLevel").value == ["setVal": 0, "t": 0])
        #expect(try document.read("ProWritable._logLevel.setVal").value == 0)
        #expect(try document.read("ProWritable.recordPlan.setVal.timeSection1.begin").value == 0)
        #expect(try document.read("ProConst._versionInfo.swVer").value == 0)
        #expect(try document.read("ProUser.note.val.a.b").value == 7)
        #expect(try document.read("ProUser.note.t").value == 5)
        #expect(try document.read("Event").value == [:])
    }

    @Test(
        "A path that does not exist is 20101",
        arguments: [
            "ProWritable.none", "ProWritable._loglevel", "ProWritable._logLevel.stVal",
            "ProWritable._logLevel.setVal.x",
            "ProUser.none.val", "Event.motion", "ProUser._buildIn.val.none", "None", "ProConst._versionInfo.stVal",
        ])
    func readAbsent(path: String) throws {
        let document = try sampleDocument()
        try expectError(.pathInvalid) { _ = try document.read(path) }
    }

    @Test("The document holds the last occurrence of each event that the schema declares")
    func events() throws {
        var document = ThingDocument(schema: try ThingSchema([.event("motion", .uint32)]))
        #expect(try document.read("").value["Event"] == ["motion": ["stVal": 0, "t": 0]])
        _ = try document.report("Event.motion.stVal", 3, at: 9)
        #expect(try document.read("Event.motion").value == ["stVal": 3, "t": 9])
    }

    @Test("The size is the size of the text, apart from the braces")
    func size() throws {
        var document = try sampleDocument()
        _ = try document.addUserProperty("x", .string(String(repeating: "家\n", count: 100)), at: 1)
        _ = try document.addUserProperty("y", [1, 2, 3], at: 1)
        _ = try document.write("ProUser.x.val", "short", at: 2)
        _ = try document.deleteUserProperty("y")
        let text = document.value.jsonText.utf8.count
        #expect((text...text + 96).contains(document.size))
    }

    @Test("A stored document is equal when it is read, as one value and as rows")
    func storage() throws {
        var document = try sampleDocument()
        _ = try document.write("ProWritable._logLevel.setVal", 4, at: 10)
        _ = try document.addUserProperty("x", ["k": .null], at: 11)
        try document.markApplied("ProWritable._logLevel", version: 2)
        #expect(try ThingDocument(json: JSONValue(parsing: document.json.jsonText)) == document)
        #expect(
            try ThingDocument(
                schema: document.schema, version: document.version, properties: document.storedProperties) == document)
    }

    @Test(
        "Damaged stored documents are refused",
        arguments: [
            "{}", "[]", #"{"schema":{},"version":1,"objects":[{}]}"#,
            #"{"schema":{},"version":1,"objects":[{"path":"ProWritable.none","value":{},"version":1}]}"#,
            #"{"schema":{},"version":1,"objects":[{"path":"ProUser.x","value":{},"version":2}]}"#,
            #"{"schema":{},"version":1,"objects":[{"path":"ProUser","value":{},"version":1}]}"#,
        ])
    func damaged(text: String) throws {
        try expectError(.storeFailed) { _ = try ThingDocument(json: JSONValue(parsing: text)) }
    }
}
