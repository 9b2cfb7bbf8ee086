import GatewayAPI
import IoTCore
import Testing

@testable import Gateway

/// How a device's responses are handled.
@Suite struct CallerMessagesTests {
    private func send(
        _ responses: MessageResponses, answer: JSONValue = [:], parts: [JSONValue] = []
    ) async throws -> [String] {
        var data: [String] = []
        try await withGateway(ScriptedLink(parts: parts) { _ throws(IoTError) in answer }) { gateway in
            let message = DeviceMessage(
                data: Array("hi".utf8), responses: responses, timeout: .seconds(1), wake: nil)
            data = try await gateway.session(of: "guest").messages.send("front", message, requestID: nil)
                .responses.map(\.data)
        }
        return data
    }

    @Test("An acknowledgement is not read", arguments: [["data": "?"], ["data": nil], ["data": 1], nil] as [JSONValue])
    func acknowledgement(answer: JSONValue) async throws {
        #expect(try await send(.none, answer: answer).isEmpty)
    }

    @Test("A malformed single response is refused with 21006")
    func one() async throws {
        #expect(try await send(.one, answer: ["data": "aGk="]) == ["aGk="])
        let error = await #expect(throws: IoTError.self) { try await send(.one, answer: ["data": "?"]) }
        #expect(error?.code == .devicePassThroughFailed)
    }

    @Test("A malformed response ends a series of responses, but earlier ones are kept")
    func several() async throws {
        let parts: [JSONValue] = [["data": "aGk="], ["data": "eW8="], ["data": "?"], ["data": "aGk="]]
        #expect(try await send(.many, parts: parts) == ["aGk=", "eW8="])
        let error = await #expect(throws: IoTError.self) { try await send(.many, parts: [["data": nil]]) }
        #expect(error?.code == .devicePassThroughFailed)
    }
}
