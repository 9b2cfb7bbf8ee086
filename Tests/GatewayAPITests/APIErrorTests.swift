import GatewayAPI
import IoTCore
import Testing

@Suite struct APIErrorTests {
    @Test("An error is encoded with number, name, message and remedy, and decoded with number and message")
    func travels() throws {
        let body = ErrorResponse(error: APIError(IoTError(.deviceOffline, "front is offline")))
        let json = try JSONValue(parsing: try APICoding.encode(body))
        #expect(json["error"]?["code"] == 8000)
        #expect(json["error"]?["name"] == "deviceOffline")
        #expect(json["error"]?["message"] == "front is offline")
        #expect(json["error"]?["remedy"]?.stringValue == ErrorCode.deviceOffline.remedy)
        #expect(json["current"] == nil)

        let back = try APICoding.decode(ErrorResponse.self, from: json.jsonText.utf8).error.error
        #expect(back.code == .deviceOffline)
        #expect(back.description == "8000 deviceOffline: front is offline")
        #expect(back.specificRemedy == nil)
    }

    @Test("A specific remedy is sent in place of the catalogue's")
    func specificRemedy() throws {
        let error = IoTError(.targetNotFound, "there is no account 'bob'", remedy: "list the accounts")
        let bytes = try APICoding.encode(ErrorResponse(error: APIError(error)))
        #expect(try JSONValue(parsing: bytes)["error"]?["remedy"] == "list the accounts")
        #expect(try APICoding.decode(ErrorResponse.self, from: bytes).error.error.remedy == "list the accounts")
    }

    @Test("An unknown number from a newer daemon is kept")
    func unknownNumber() throws {
        let text = #"{"error":{"code":25999,"name":"fromTheFuture","message":"m","remedy":"r"}}"#
        let error = try APICoding.decode(ErrorResponse.self, from: text.utf8).error
        #expect(error.name == "fromTheFuture")
        #expect(error.error.code.rawValue == 25999)
        #expect(error.error.remedy == "r")
    }
}
