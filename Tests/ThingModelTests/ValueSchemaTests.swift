import IoTCore
import Testing
import ThingModel

@Suite struct ValueSchemaTests {
    static let fitting: [(ValueSchema, JSONValue)] = [
        (.int32, -2_147_483_648), (.int32, 2_147_483_647), (.int32, 3.0), (.uint32, 4_294_967_295), (.uint32, 0),
        (.float32, 3), (.float32, -1.5), (.float64, 1e300), (.string(6), "家家"), (.string(1), ""), (.int32(0...6), 6),
        (.string(8, allowed: ["low"]), "low"), (ValueSchema(.int32, allowed: [1, 3]), 3.0),
    ]

    static let outside: [(ValueSchema, JSONValue)] = [
        (.int32, 2_147_483_648), (.int32, 1.5), (.int32, "1"), (.int32, true), (.int32, .null), (.int32, [:]),
        (.int32, []), (.uint32, -1), (.uint32, 4_294_967_296), (.float32, 1e39), (.float64, "x"),
        (.string(5), "家家"), (.string(5), 1), (.int32(0...6), 7), (.int32(0...6), -1),
        (.string(8, allowed: ["low"]), "mid"), (ValueSchema(.int32, allowed: [1, 3]), 2),
        (ValueSchema(.int32, minimum: 0), 1e300),
    ]

    @Test("Each type accepts its values, up to the limits", arguments: fitting)
    func accepted(schema: ValueSchema, value: JSONValue) throws {
        _ = try schema.validate(value, at: "p")
    }

    @Test("A value outside the limits is 20102, and the message names the path", arguments: outside)
    func refused(schema: ValueSchema, value: JSONValue) throws {
        let error = try expectError(.valueInvalid) { _ = try schema.validate(value, at: "ProWritable.x.setVal") }
        #expect(error.message.contains("ProWritable.x.setVal"), "\(error.message)")
    }

    @Test("3.0 is an integer and is stored as one")
    func normalForm() throws {
        #expect(try ValueSchema.int32.validate(3.0, at: "p") == .integer(3))
    }

    @Test("A structure must have all members and no unknown ones; the message names the leaf")
    func structures() throws {
        let schema = ValueSchema.structure("box_t", [.init("x", .int32(0...9)), .init("name", .string(4))])
        #expect(try schema.validate(["x": 1, "name": "a"], at: "p") == ["x": 1, "name": "a"])
        let missing = try expectError(.valueInvalid) { _ = try schema.validate(["x": 1], at: "p") }
        #expect(missing.message.contains("p.name is missing"))
        let unknown = try expectError(.valueInvalid) {
            _ = try schema.validate(["x": 1, "name": "a", "y": 1], at: "p")
        }
        #expect(unknown.message.contains("p.y"))
        let wrong = try expectError(.valueInvalid) { _ = try schema.validate(["x": 10, "name": "a"], at: "p") }
        #expect(wrong.message == "p.x must be an integer from 0 to 9 (int32), not 10")
    }
}
