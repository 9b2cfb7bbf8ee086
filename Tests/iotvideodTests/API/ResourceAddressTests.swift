import GatewayAPI
import IoTCore
import Testing

@testable import iotvideod

@Suite struct ResourceAddressTests {
    @Test(
        "The name of a picture in this gateway becomes its address; everything else stays",
        arguments: [
            (#"{"resource":"0af3"}"#, #"{"resource":"/v1/resources/0af3"}"#),
            (#"{"resource":"https://other.example/a"}"#, #"{"resource":"https://other.example/a"}"#),
            (#"{"resource":5}"#, #"{"resource":5}"#), (#"["resource"]"#, #"["resource"]"#), ("null", "null"),
        ])
    func addresses(result: String, answered: String) async throws {
        let answer = try await RouterFixture().ask(
            "POST", "/v1/devices/d/actions", token: RouterFixture.administrator,
            body: #"{"path":"Action.a","value":\#(result)}"#)
        #expect(answer.status == 200)
        let response = try APICoding.decode(ActionResponse.self, from: answer.body.utf8)
        #expect(response.value == (try JSONValue(parsing: Array(answered.utf8))))
    }
}
