import IoTCore
import Testing
import ThingModel

@Suite("The bounds of a schema hold, even if its text is small")
struct SchemaBoundsTests {
    private func schema(_ types: [JSONValue], _ data: [JSONValue]) throws(IoTError) -> ThingSchema {
        try ThingSchema(vendorForm: ["TypeDefs": .array(types), "DataDefs": .array(data)])
    }

    private func property(_ name: String, _ type: JSONValue) -> JSONValue {
        ["name": .string(name), "type": type, "FC": "ProReadonly"]
    }

    @Test("The text of a structure counts each time it is used", arguments: ["desc", "default"])
    func unfoldedText(key: String) {
        var member: JSONValue = ["name": "a", "type": "string65535"]
        member[key] = .string(String(repeating: "x", count: 60_000))
        let type: JSONValue = ["name": "x_t", "type": [member]]
        let uses = (0..<1_500).map { property("p\($0)", "x_t") }
        #expect(throws: Never.self) { try schema([type], Array(uses.prefix(4))) }
        let error = #expect(throws: IoTError.self) { try schema([type], uses) }
        #expect(error?.code == .payloadTooLarge)
    }

    @Test("An enum has at most 256 values")
    func longEnum() {
        func withValues(_ count: Int) -> JSONValue {
            var line = property("p", "int32")
            line["enum"] = .array((0..<count).map { .integer(Int64($0)) })
            return line
        }
        #expect(throws: Never.self) { try schema([], [withValues(256)]) }
        let error = #expect(throws: IoTError.self) { try schema([], [withValues(257)]) }
        #expect(error?.code == .payloadTooLarge)
    }

    @Test("Names are validated before they are used")
    func longNames() {
        let long = String(repeating: "n", count: 200_000)
        for line in [
            property(long, "int32"), property("p", .string(long)),
            property("p", [["name": .string(long), "type": "int32"]]),
        ] {
            let error = #expect(throws: IoTError.self) { try schema([], [line]) }
            #expect(error?.code == .valueInvalid)
            #expect(error?.message.utf8.count ?? 0 < 1_024)
        }
        let error = #expect(throws: IoTError.self) {
            try schema([["name": .string(long), "type": [["name": "a", "type": "int32"]]]], [])
        }
        #expect(error?.code == .valueInvalid)
    }

    @Test("The vendor form of a valid schema can be read, even with the longest type names")
    func longestNames() throws {
        let name = String(repeating: "n", count: 64)
        let made = try schema([], [property(name, [["name": .string(name), "type": "int32"]])])
        #expect(try ThingSchema(vendorForm: made.vendorForm) == made)
    }
}
