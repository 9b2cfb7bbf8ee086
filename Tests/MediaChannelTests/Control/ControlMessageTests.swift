import IoTCore
import Testing

@testable import MediaChannel

@Suite struct ControlMessageTests {
    @Test("Every kind of message is written and read as JSON-RPC 2.0")
    func roundTrip() throws {
        let request = try ControlMessage(
            parsing: #"{"jsonrpc":"2.0","id":7,"method":"talk.start","params":{"a":1}}"#)
        guard case .request(.integer(7), "talk.start", ["a": 1]) = request else {
            return #expect(Bool(false), "\(request)")
        }
        let failure = ControlMessage.failure(id: "x", IoTError(.talkerBusy)).text
        let json = try JSONValue(parsing: failure)
        #expect(json["jsonrpc"] == "2.0" && json["id"] == "x" && json["error"]?["code"] == 25047)
        #expect(json["error"]?["data"]?["name"] == "talkerBusy")
        guard case .failure("x", let error) = try ControlMessage(parsing: failure) else {
            return #expect(Bool(false))
        }
        #expect(error.code == .talkerBusy && !error.remedy.isEmpty)
        guard
            case .notification("talk.ended", ["code": 1]) = try ControlMessage(
                parsing: ControlMessage.notification(method: "talk.ended", params: ["code": 1]).text)
        else { return #expect(Bool(false)) }
        guard
            case .result(.integer(1), .bool(true)) = try ControlMessage(
                parsing: ControlMessage.result(id: 1, true).text)
        else { return #expect(Bool(false)) }
    }

    @Test(
        "Anything else is refused",
        arguments: [
            "", "[]", "{}", #"{"jsonrpc":"1.0","id":1,"method":"a"}"#, #"{"jsonrpc":"2.0"}"#,
            #"{"jsonrpc":"2.0","id":[1],"method":"a"}"#, #"{"jsonrpc":"2.0","id":null,"method":"a"}"#,
            #"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#, #"{"jsonrpc":"2.0","id":1,"error":{}}"#,
            #"{"jsonrpc":"2.0","id":""# + String(repeating: "a", count: 65) + #"","method":"a"}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"a","params":""# + String(repeating: "b", count: 8_192) + #""}"#,
            String(repeating: "[", count: 8_000),
        ])
    func refused(_ text: String) {
        #expect(throws: IoTError.self) { try ControlMessage(parsing: text) }
    }
}
