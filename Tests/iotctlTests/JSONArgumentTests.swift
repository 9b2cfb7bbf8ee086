import ArgumentParser
import IoTCore
import Testing

@testable import iotctl

@Suite struct JSONArgumentTests {
    @Test("JSON of every type is taken", arguments: ["1", " -5", "\"a\"", "{\"a\":[null]}", "true"])
    func json(text: String) throws {
        #expect(try JSONArgument.parse(text).read() == JSONValue(parsing: text))
    }

    @Test("A bare word is refused with what was probably meant")
    func bareWord() throws {
        let error = #expect(throws: ValidationError.self) { try JSONArgument.parse("hall \"3\"") }
        #expect(error?.message.hasSuffix(#"did you mean '"hall \"3\""'?"#) == true)
    }

    @Test("A negative number reaches its argument; options and their order stay")
    func negativeNumbers() throws {
        let arguments = JSONArgument.protectNegativeNumbers(["property", "write", "d", "p", "-5", "--json", "-h", "-"])
        #expect(arguments == ["property", "write", "d", "p", " -5", "--json", "-h", "-"])
        let command = try #require(
            try IotctlCommand.parseAsRoot(Array(arguments.prefix(5))) as? PropertyCommand.Write)
        #expect(try command.value.read() == -5)
    }
}
