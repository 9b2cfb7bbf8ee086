import IoTCore
import Testing
import ThingModel

@Suite struct ThingDocumentActionTests {
    @Test(
        "An action accepts ctlVal, stVal, and a bare value at any of its paths",
        arguments: [
            ("Action.cameraOn", #"{"ctlVal":1}"#), ("Action.cameraOn", #"{"stVal":1}"#),
            ("Action.cameraOn.ctlVal", "1"), ("Action.cameraOn", "1"),
            ("Action.cameraOn.stVal", "1"), ("Action.cameraOn", "null"),
        ])
    func forms(path: String, text: String) throws {
        var document = try sampleDocument()
        let change = try document.takeAction(path, JSONValue(parsing: text), origin: "u/owner", at: 77)
        #expect(change.path == "Action.cameraOn")
        #expect(try document.read("Action.cameraOn").value == ["ctlVal": 1, "origin": "u/owner", "t": 77])
        #expect(try document.read("ProReadonly.cameraOn.stVal").value == 0)
    }

    @Test("A value outside the schema is 20102", arguments: [#"{"ctlVal":2}"#, #"{"ctlVal":"1"}"#, "2", "{}", "[]"])
    func wrongValue(text: String) throws {
        let document = try sampleDocument()
        try expectError(.valueInvalid) {
            _ = try document.actionCommand("Action.cameraOn", JSONValue(parsing: text))
        }
    }

    @Test(
        "A path that is not an action is 20101",
        arguments: [
            "", "Action", "Action.none", "ProWritable._logLevel", "Action.cameraOn.t", "Action.cameraOn.ctlVal.x",
        ])
    func wrongPath(path: String) throws {
        let document = try sampleDocument()
        try expectError(.pathInvalid) { _ = try document.actionCommand(path, 1) }
    }
}
