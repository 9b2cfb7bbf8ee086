import IoTCore
import Testing
import ThingModel

@Suite("Members of a structure that may be left out")
struct OptionalMemberTests {
    private let section = ValueSchema.structure("Section", [.init("begin", .int32(0...9)), .init("end", .int32)])

    private func schema(optional: Bool = true) throws -> ThingSchema {
        try ThingSchema([
            .writable("plan", .structure("Plan", [.init("a", section), .init("b", section, isOptional: optional)]))
        ])
    }

    private static let zero: JSONValue = ["begin": 0, "end": 0]

    @Test("The default lacks them, and a whole value may have them or not")
    func whole() throws {
        var document = try ThingDocument(schema: schema())
        #expect(try document.read("ProWritable.plan.setVal").value == ["a": Self.zero])
        for value: JSONValue in [["a": Self.zero, "b": ["begin": 3, "end": 4]], ["a": ["begin": 1, "end": 2]]] {
            _ = try document.write("ProWritable.plan.setVal", value, at: 1)
            #expect(try document.read("ProWritable.plan.setVal").value == value)
        }
        for wrong: JSONValue in [["b": Self.zero], ["a": Self.zero, "b": ["begin": 3]], ["a": Self.zero, "b": .null]] {
            #expect(throws: IoTError.self) { try document.write("ProWritable.plan.setVal", wrong, at: 1) }
        }
    }

    @Test("A write to a member below an absent one adds it with its defaults")
    func member() throws {
        var document = try ThingDocument(schema: schema())
        _ = try document.write("ProWritable.plan.setVal.b.end", 5, at: 1)
        #expect(try document.read("ProWritable.plan.setVal").value == ["a": Self.zero, "b": ["begin": 0, "end": 5]])
        #expect(throws: IoTError.self) { try document.write("ProWritable.plan.setVal.c.end", 5, at: 1) }
        #expect(throws: IoTError.self) { try document.write("ProWritable.plan.setVal.b.begin", 10, at: 1) }
    }

    @Test("The vendor's form says which, and another schema keeps them absent or fills them in")
    func forms() throws {
        let schema = try schema()
        #expect(try ThingSchema(vendorForm: schema.vendorForm) == schema)
        var document = ThingDocument(schema: schema)
        _ = try document.write("ProWritable.plan.setVal.a.end", 7, at: 1)
        _ = try document.adopt(self.schema(optional: false))
        #expect(try document.read("ProWritable.plan.setVal").value == ["a": ["begin": 0, "end": 7], "b": Self.zero])
        _ = try document.write("ProWritable.plan.setVal.b.end", 8, at: 2)
        _ = try document.adopt(schema)
        #expect(try document.read("ProWritable.plan.setVal.b.end").value == 8)
    }
}
