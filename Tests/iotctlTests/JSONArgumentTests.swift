import ArgumentParser
import IoTCore
import Testing

@testable import iotctl

@Suite struct JSONArgumentTests {
    @Test("JSON of every type is accepted", arguments: ["1", " -5", "\"a\"", "{\"a\":[null]}", "true"])
    func json(text: String) throws {
        #expect(try JSONArgument.parse(text).read() == JSONValue(parsing: text))
    }

    @Test(
        "A bare word is refused with the way to write it as a string in a shell; damaged JSON with the offset only",
        arguments: [
            (
                #"hall "3""#,
                #"not valid JSON: a JSON value was expected at byte 0; to send a string, write '"hall \"3\""'"#
            ),
            ("Bob's", #"not valid JSON: a JSON value was expected at byte 0; to send a string, write '"Bob'\''s"'"#),
            (#"{"a":"#, "not valid JSON: the text ended where a value should begin at byte 5"),
        ])
    func wrong(text: String, message: String) {
        let error = #expect(throws: ValidationError.self) { try JSONArgument.parse(text) }
        #expect(error?.message == message)
    }

    @Test("A negative number reaches its argument; options keep their order")
    func negativeNumbers() async throws {
        let arguments = JSONArgument.protectNegativeNumbers(["property", "write", "d", "p", "-5", "--json", "-h", "-"])
        #expect(arguments == ["property", "write", "d", "p", " -5", "--json", "-h", "-"])
        let command = try #require(
            try await IotctlCommand.asyncParseAsRoot(Array(arguments.prefix(5))) as? PropertyCommand.Write)
        #expect(try command.value.read() == -5)
    }
}
