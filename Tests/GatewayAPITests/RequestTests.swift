import GatewayAPI
import IoTCore
import Testing

@Suite struct RequestTests {
    private func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try APICoding.decode(type, from: text.utf8)
    }

    @Test("A channel request only needs the device")
    func channelDefaults() throws {
        let request = try decode(ChannelRequest.self, #"{"device":"front"}"#)
        #expect(request == ChannelRequest(device: "front", source: .main, kind: .monitor))
        #expect(request.channelKind == .monitor)
        #expect(try decode(ChannelRequest.self, #"{"device":"a","kind":"cinema"}"#).channelKind == nil)
    }

    @Test("An action without a value is sent with null")
    func actionDefaults() throws {
        let request = try decode(ActionRequest.self, #"{"path":"Action.takePhoto"}"#)
        #expect(request.value == .null)
        #expect(request.timeoutMilliseconds == nil)
        #expect(try decode(ActionResponse.self, #"{"value":null}"#).value == .null)
        #expect(try decode(ActionResponse.self, "{}").value == .null)
    }

    @Test(
        "A property's value of any type is decoded exactly",
        arguments: [
            .null, true, 9_007_199_254_740_993, -1, 0.25, "µ\"\\\n", [1, ["a": .null]], [:],
        ] as [JSONValue])
    func values(value: JSONValue) throws {
        let property = PropertyResponse(value: value, version: 1 << 40)
        #expect(try APICoding.decode(PropertyResponse.self, from: try APICoding.encode(property)) == property)
        let write = PropertyWriteResponse(version: 2, value: value, pending: true)
        #expect(try APICoding.decode(PropertyWriteResponse.self, from: try APICoding.encode(write)) == write)
        let update = PropertyUpdate(device: "d", path: "p", value: value, version: 3)
        #expect(try APICoding.decode(PropertyUpdate.self, from: try APICoding.encode(update)) == update)
    }
}
