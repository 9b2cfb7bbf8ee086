import GatewayAPI
import IoTCore
import IoTLink

import enum ThingModel.MessageMethod

struct CallerMessages: GatewayMessages {
    let session: CallerSession

    func send(
        _ device: String, _ message: DeviceMessage, requestID: String?
    ) async throws -> MessageResponse {
        let params = params(try await session.target(device), message)
        guard message.responses == .many else {
            let result = try await session.hub.ask(
                MessageMethod.send, params, timeout: message.timeout + .seconds(1), id: requestID)
            let data = message.responses == .none ? nil : result["data"]?.stringValue
            return MessageResponse(responses: data.map { [MessageData(data: $0)] } ?? [])
        }
        var responses: [MessageData] = []
        do {
            for try await response in replies(params, message, requestID) { responses.append(response) }
        } catch let error as IoTError where error.code == .messageTimeout || error.code == .peerTimeout {
            // What came in time is an answer.
            if responses.isEmpty { throw error }
        }
        return MessageResponse(responses: responses)
    }

    func responses(
        _ device: String, _ message: DeviceMessage, requestID: String?
    ) async throws -> AsyncStream<MessageEvent> {
        let replies = replies(params(try await session.target(device), message), message, requestID)
        let pending = PendingEnd()
        return AsyncStream(unfolding: {
            if pending.isOver { return nil }
            do {
                for try await response in replies { return .response(response) }
                pending.end()
                return .end
            } catch {
                pending.end()
                return .failed(APIError(error as? IoTError ?? IoTError(.internalFailure, underlying: error)))
            }
        })
    }

    private func replies(
        _ params: [String: JSONValue?], _ message: DeviceMessage, _ requestID: String?
    ) -> AsyncCompactMapSequence<AsyncThrowingStream<JSONValue, any Error>, MessageData> {
        session.gateway.link.responses(
            MessageMethod.send.name, .object(params.compactMapValues { $0 }), timeout: message.timeout + .seconds(1),
            id: requestID, as: session.principal
        )
        // The last answer may be empty: it only says that there are no more.
        .compactMap { $0["data"]?.stringValue.map { MessageData(data: $0) } }
    }

    private func params(_ device: String, _ message: DeviceMessage) -> [String: JSONValue?] {
        [
            "device": .string(device), "data": .string(message.data), "responses": .string(message.responses.rawValue),
            "timeoutMilliseconds": .integer(
                message.timeout.components.seconds * 1000
                    + message.timeout.components.attoseconds / 1_000_000_000_000_000),
            "wake": message.wake.map { .bool($0) },
        ]
    }

    func askServer(_ request: ServerMessageRequest, requestID: String?) async throws -> MessageData {
        try await session.hub.ask(
            MessageData.self, MessageMethod.askServer, ["path": .string(request.path), "data": .text(request.data)],
            id: requestID)
    }
}
