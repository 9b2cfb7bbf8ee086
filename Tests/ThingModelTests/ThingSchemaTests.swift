import IoTCore
import Testing

@testable import ThingModel

@Suite struct ThingSchemaTests {
    @Test("The vendor form is read: structures by name, classes by FC, built-ins implicitly")
    func vendorForm() throws {
        let schema = try ThingSchema(vendorForm: sampleSchemaForm)
        #expect(schema[.writable, "recordPlan"]?.value.type.name == "recordPlan_t")
        #expect(schema[.writable, "recordPlan"]?.description == "when to record")
        #expect(schema[.action, "cameraOn"]?.value.maximum == 1)
        #expect(schema[.writable, "_cloudStoage"] != nil)
        #expect(schema[.constant, "_versionInfo"] != nil)
    }

    @Test("A schema is equal after it was written and read in the vendor form")
    func roundTrip() throws {
        let schema = try ThingSchema([
            .constant("model", .string(32, default: "M1")),
            .readonly("rate", ValueSchema(.float64, minimum: 0, maximum: 240.5)),
            .writable("quality", .string(16, allowed: ["low", "high"], default: "high")),
            .writable("turn", ValueSchema(.int32, allowed: [0, 90], refusal: .invalidParameter)),
            .writable("a", .structure("box_t", [.init("x", .int32(-5...5, default: 2), description: "left")])),
            .writable("b", .structure("box_t", [.init("x", .int32(-5...5, default: 2), description: "left")])),
            .action("reboot", .int32(1...1)),
            .event("motion", .structure("motion_t", [.init("bits", .uint32), .init("score", .float32)])),
        ])
        let read = try ThingSchema(vendorForm: JSONValue(parsing: schema.vendorForm.jsonText))
        #expect(read == schema)
        #expect(schema.vendorForm["TypeDefs"]?.arrayValue?.count == 2)
    }

    @Test("An action without its ProReadonly twin gets one; a twin of another type is refused")
    func twins() throws {
        let schema = try ThingSchema([.action("reboot", .int32)])
        #expect(schema[.readonly, "reboot"]?.value.type == .int32)
        let error = try expectError(.valueInvalid) {
            _ = try ThingSchema([.action("reboot", .int32), .readonly("reboot", .string(8))])
        }
        #expect(error.message.contains("ProReadonly.reboot"))
    }

    static func event(_ type: String, types: String = "[]") -> String {
        #"{"TypeDefs":\#(types),"DataDefs":[{"name":"x","type":\#(type),"FC":"Event"}]}"#
    }

    @Test(
        "An invalid schema is refused, and the message names the line",
        arguments: [
            (#"{"DataDefs":[{"name":"x","type":"int32","FC":"Writable"}]}"#, "DataDefs[0] x"),
            (#"{"DataDefs":[{"name":"x","type":"int32"}]}"#, "FC is missing"),
            (#"{"DataDefs":[{"name":"x","type":"int16","FC":"ProWritable"}]}"#, "int16"),
            (#"{"DataDefs":[{"name":"x","type":"string0","FC":"ProWritable"}]}"#, "string0"),
            (#"{"DataDefs":[{"name":"x","type":"string99999999999999999999","FC":"ProWritable"}]}"#, "no type"),
            (#"{"DataDefs":[{"name":"x","type":"int32","FC":"ProUser"}]}"#, "ProUser"),
            (#"{"DataDefs":[{"name":"x.y","type":"int32","FC":"ProWritable"}]}"#, "x.y"),
            (#"{"DataDefs":[{"name":"","type":"int32","FC":"ProWritable"}]}"#, "empty"),
            (#"{"DataDefs":[{"name":"x","type":"int32","FC":"ProWritable","min":2,"max":1}]}"#, "default"),
            (#"{"DataDefs":[{"name":"x","type":"string4","FC":"ProWritable","min":2}]}"#, "min and max"),
            (#"{"DataDefs":[{"name":"x","type":"int32","FC":"ProWritable","enum":["a"]}]}"#, "ProWritable.x enum"),
            (#"{"DataDefs":[{"name":"x","type":"int32","FC":"ProWritable","default":"a"}]}"#, "default"),
            (#"{"DataDefs":[{"name":"x","type":"int32","FC":"ProWritable","error":8000}]}"#, "20102 or 21031"),
            (#"{"DataDefs":[{"name":"x","type":"int32","FC":"ProWritable","error":"21031"}]}"#, "error must be"),
            (
                #"{"DataDefs":[{"name":"x","type":"int32","FC":"ProWritable","default":"a","error":21031}]}"#,
                "default"
            ),
            (#"{"DataDefs":[{"name":"x","type":[],"FC":"ProWritable"}]}"#, "no members"),
            (
                ThingSchemaTests.event(#"[{"name":"a","type":"int32"},{"name":"a","type":"int32"}]"#),
                "twice"
            ),
            (
                #"{"DataDefs":[{"name":"x","type":"int32","FC":"Event"},{"name":"x","type":"int32","FC":"Event"}]}"#,
                "twice"
            ),
            (
                ThingSchemaTests.event(#""t""#, types: #"[{"name":"t","type":[{"name":"m","type":"t"}]}]"#),
                "hold themselves"
            ),
            (
                ThingSchemaTests.event(#""t""#, types: #"[{"name":"t","type":"u"},{"name":"u","type":"t"}]"#),
                "TypeDefs[0] t"
            ),
            (#"{"DataDefs":{}}"#, "DataDefs"), (#"[]"#, "object"), (#"{"TypeDefs":[{}]}"#, "TypeDefs[0]"),
        ])
    func refused(text: String, part: String) throws {
        let error = try expectError(.valueInvalid) { _ = try ThingSchema(vendorForm: JSONValue(parsing: text)) }
        #expect(error.message.contains(part), "\(error.message)")
    }

    @Test("Types that grow exponentially when they are expanded are refused at a bound")
    func expansion() throws {
        var types: [JSONValue] = [["name": "t0", "type": [["name": "m", "type": "int32"]]]]
        for level in 1...7 {
            let members = (0..<100).map { index -> JSONValue in
                ["name": .string("m\(index)"), "type": .string("t\(level - 1)")]
            }
            types.append(["name": .string("t\(level)"), "type": .array(members)])
        }
        let form: JSONValue = [
            "TypeDefs": .array(types), "DataDefs": [["name": "x", "type": "t7", "FC": "ProWritable"]],
        ]
        try expectError(.payloadTooLarge) { _ = try ThingSchema(vendorForm: form) }
    }

    @Test("The default is the explicit one, or the nearest allowed value")
    func defaults() {
        #expect(ValueSchema.int32(3...9).defaultValue == 3)
        #expect(ValueSchema.int32(-9 ... -3).defaultValue == -3)
        #expect(ValueSchema.int32(0...1, default: 1).defaultValue == 1)
        #expect(ValueSchema.string(4, allowed: ["a"]).defaultValue == "a")
        #expect(ValueSchema(.float64, minimum: 0.5).defaultValue == 0.5)
    }
}
