import IoTCore
import IoTLink
import Testing
import ThingModel

/// The schema of the vendor's sample document, which has two properties beyond the built-ins.
let sampleSchemaForm: JSONValue = [
    "TypeDefs": [
        [
            "name": "timeSection_t", "desc": "",
            "type": [
                ["name": "desc", "type": "string32"], ["name": "enable", "type": "int32", "min": 0, "max": 1],
                ["name": "dayOfWeek", "type": "int32"], ["name": "begin", "type": "int32"],
                ["name": "end", "type": "int32"],
            ],
        ],
        ["name": "recordPlan_t", "desc": "", "type": [["name": "timeSection1", "type": "timeSection_t"]]],
    ],
    "DataDefs": [
        ["name": "recordPlan", "desc": "when to record", "type": "recordPlan_t", "FC": "ProWritable"],
        ["name": "cameraOn", "desc": "", "type": "int32", "FC": "Action", "min": 0, "max": 1],
        ["name": "cameraOn", "desc": "", "type": "int32", "FC": "ProReadonly"],
    ],
]

func sampleDocument() throws -> ThingDocument {
    ThingDocument(schema: try ThingSchema(vendorForm: sampleSchemaForm))
}

/// Expects `body` to throw an error with this code. Returns the error.
@discardableResult
func expectError(
    _ code: ErrorCode, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) throws -> IoTError {
    let error = try #require(throws: IoTError.self, sourceLocation: sourceLocation) { try body() }
    #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
    return error
}

extension LinkValue {
    /// Reads the value from the parameters of a request.
    init(parameters json: JSONValue) throws(IoTError) {
        try self.init(LinkMembers(json, of: "test", failure: .invalidRequest))
    }
}
