import IoTCore
import Testing
import ThingModel

@Suite struct PropertyPathTests {
    @Test(
        "A path of any depth can be parsed and written",
        arguments: [
            "", "Action", "ProWritable._logLevel", "ProWritable._logLevel.setVal", "ProUser._buildIn.val.nickName",
            "ProUser.a b/ü 家\"\\%.val", "ProReadonly.x.stVal.a.b.c.d",
        ])
    func roundTrip(text: String) throws {
        #expect(try PropertyPath(parsing: text).description == text)
    }

    @Test("A path has a class, an object and members")
    func parts() throws {
        let path = try PropertyPath(parsing: "ProUser._buildIn.val.nickName")
        #expect(path.propertyClass == .user)
        #expect(path.object == "_buildIn")
        #expect(path.members == ["val", "nickName"])
        #expect(path.objectPath == "ProUser._buildIn")
        #expect(try PropertyPath(parsing: "").propertyClass == nil)
    }

    @Test(
        "An empty name, an unknown class or a path that is too long is 20101",
        arguments: [
            ".", "ProUser.", ".ProUser", "ProUser..val", "ProUser.x.", "Nothing.x", " ProUser.x",
            "ProUser." + String(repeating: "a.", count: 600),
        ])
    func refused(text: String) throws {
        try expectError(.pathInvalid) { _ = try PropertyPath(parsing: text) }
    }

    @Test("A class in the wrong case is refused, and the message names the right one")
    func caseHint() throws {
        let error = try expectError(.pathInvalid) { _ = try PropertyPath(parsing: "Prowritable.xxx.setVal") }
        #expect(error.message.contains("ProWritable"))
    }

    @Test("A combining mark after the dot does not hide it")
    func combiningMark() throws {
        #expect(try PropertyPath(parsing: "ProUser.\u{301}x").object == "\u{301}x")
    }
}
