import IoTCore
import Testing
import ThingModel

@Suite struct ThingDocumentUserPropertyTests {
    @Test("A user property is added, written, replaced and deleted, as in the vendor's guide")
    func life() throws {
        var document = try sampleDocument()
        _ = try document.addUserProperty("testProUser", ["testKey": "testValue"], at: 1_600_048_390)
        #expect(
            try document.read("ProUser.testProUser").value
                == ["t": 1_600_048_390, "val": ["testKey": "testValue"]])
        _ = try document.write("ProUser.testProUser.val", ["testKey": "newTestValue"], at: 2)
        _ = try document.write("ProUser.testProUser.val.other", true, at: 3)
        #expect(
            try document.read("ProUser.testProUser").value
                == ["t": 3, "val": ["testKey": "newTestValue", "other": true]])
        _ = try document.addUserProperty("ProUser.testProUser", 5, at: 4)
        #expect(try document.read("ProUser.testProUser.val").value == 5)
        let change = try document.deleteUserProperty("ProUser.testProUser")
        #expect(change.value == .null)
        try expectError(.pathInvalid) { _ = try document.read("ProUser.testProUser") }
    }

    @Test("A leaf of the built-in is added when it is written, and known leaves are validated")
    func builtIn() throws {
        var document = try sampleDocument()
        _ = try document.write("ProUser._buildIn.val.nickName", "前门", at: 9)
        _ = try document.write("ProUser._buildIn.val.colour", "red", at: 10)
        #expect(
            try document.read("ProUser._buildIn").value
                == ["t": 10, "val": ["almEvtPushEna": 0, "nickName": "前门", "colour": "red"]])
        try expectError(.valueInvalid) { _ = try document.write("ProUser._buildIn.val.nickName", 1, at: 1) }
        try expectError(.valueInvalid) { _ = try document.write("ProUser._buildIn.val", 1, at: 1) }
        try expectError(.pathInvalid) { _ = try document.write("ProUser._buildIn.val.a.b", 1, at: 1) }
    }

    @Test("Adding or deleting a name with a leading underscore is 8605", arguments: ["_x", "_buildIn", "ProUser._x"])
    func reserved(name: String) throws {
        var document = try sampleDocument()
        try expectError(.reservedPropertyName) { _ = try document.addUserProperty(name, 1, at: 1) }
        try expectError(.reservedPropertyName) { _ = try document.deleteUserProperty(name) }
    }

    @Test(
        "A name that a path cannot contain, or that is too long, is 20101",
        arguments: [
            "", "a.b", "ProUser.", String(repeating: "x", count: 65), String(repeating: "家", count: 22),
        ])
    func names(name: String) throws {
        var document = try sampleDocument()
        try expectError(.pathInvalid) { _ = try document.addUserProperty(name, 1, at: 1) }
    }

    @Test("Deleting a property that does not exist is 20101")
    func deleteMissing() throws {
        var document = try sampleDocument()
        try expectError(.pathInvalid) { _ = try document.deleteUserProperty("none") }
    }

    @Test("Versions increase with a deletion and never start over")
    func versionsAfterDelete() throws {
        var document = try sampleDocument()
        let first = try document.addUserProperty("x", 1, at: 1)
        let deleted = try document.deleteUserProperty("x")
        #expect(deleted.version > first.version)
        let error = try expectError(.versionConflict) {
            _ = try document.write("ProUser.x.val", 2, at: 2, ifVersion: first.version)
        }
        #expect(error.versionConflict?.version == 0)
        let again = try document.addUserProperty("x", 1, at: 3, ifVersion: 0)
        #expect(again.version > deleted.version)
        try expectError(.versionConflict) { _ = try document.addUserProperty("x", 1, at: 4, ifVersion: 0) }
    }

    @Test("256 user properties fit, the next does not; replacing still works")
    func count() throws {
        var document = try sampleDocument()
        for index in 0..<256 { _ = try document.addUserProperty("p\(index)", 1, at: 1) }
        try expectError(.payloadTooLarge) { _ = try document.addUserProperty("p256", 1, at: 1) }
        _ = try document.addUserProperty("p0", 2, at: 1)
    }

    @Test("A change that makes the model too large is refused; the model can still shrink")
    func size() throws {
        var document = try sampleDocument()
        let text = JSONValue.string(String(repeating: "x", count: 120_000))
        _ = try document.addUserProperty("a", text, at: 1)
        let before = document
        try expectError(.payloadTooLarge) { _ = try document.addUserProperty("b", [text, text], at: 1) }
        #expect(document == before)
        _ = try document.write("ProUser.a.val", "x", at: 2)
    }

    @Test("A value that is nested too deeply is 20102, also when it is written in steps")
    func depth() throws {
        var document = try sampleDocument()
        var value: JSONValue = 1
        for _ in 0..<32 { value = [value] }
        _ = try document.addUserProperty("x", value, at: 1)
        try expectError(.valueInvalid) { _ = try document.addUserProperty("x", [value], at: 1) }
        _ = try document.addUserProperty("y", [:], at: 1)
        try expectError(.valueInvalid) { _ = try document.write("ProUser.y.val.z", value, at: 1) }
    }
}
