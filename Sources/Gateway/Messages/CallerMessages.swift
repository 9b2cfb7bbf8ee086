import GatewayAPI
import IoTCore
import IoTLink
import ThingModel

struct CallerMessages: GatewayMessages {
    let session: CallerSession

    func send(
        _ device: String, _ message: DeviceMessage, requestID: String?
    ) async throws -> GatewayAPI.MessageResponse {
        let parameters = try await parameters(device, message)
        let timeout = message.timeout + .seconds(1)
        switch message.responses {
        case .none:
            // The device's acknowledgement is not read.
            _ = try await session.hub.link.request(
                MessageMethod.send.name, parameters.json, timeout: timeout, id: requestID)
            return GatewayAPI.MessageResponse(responses: [])
        case .one:
            let answer = try await session.hub.ask(MessageMethod.send, parameters, timeout: timeout, id: requestID)
            return GatewayAPI.MessageResponse(responses: answer.data.map { [GatewayAPI.MessageData($0)] } ?? [])
        case .many: break
        }
        var responses: [GatewayAPI.MessageData] = []
        do {
            for try await response in replies(parameters, message, requestID) { responses.append(response) }
        } catch let error as IoTError
            where [.messageTimeout, .peerTimeout, .devicePassThroughFailed].contains(error.code)
        {
            // If some responses arrived before the error, they are returned.
            if responses.isEmpty { throw error }
        }
        return GatewayAPI.MessageResponse(responses: responses)
    }

    func responses(
        _ device: String, _ message: DeviceMessage, requestID: String?
    ) async throws -> AsyncStream<MessageEvent> {
        let replies = replies(try await parameters(device, message), message, requestID)
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
        _ parameters: MessageToDevice, _ message: DeviceMessage, _ requestID: String?
    ) -> some AsyncSequence<GatewayAPI.MessageData, any Error> & Sendable {
        session.hub.link.responses(
            MessageMethod.send, parameters, timeout: message.timeout + .seconds(1), id: requestID
        )
        // The last response may be empty and only mark the end.
        .compactMap { $0.data.map { GatewayAPI.MessageData($0) } }
    }

    private func parameters(_ device: String, _ message: DeviceMessage) async throws -> MessageToDevice {
        MessageToDevice(
            device: try await session.target(device), data: try ThingModel.MessageData(message.data),
            responses: message.responses,
            wake: message.wake,
            timeoutMilliseconds: message.timeout.components.seconds * 1000
                + message.timeout.components.attoseconds / 1_000_000_000_000_000)
    }

    func askServer(_ request: ServerMessageRequest, requestID: String?) async throws -> GatewayAPI.MessageData {
        let data = try request.data.map { text throws(IoTError) in try ThingModel.MessageData(.string(text)) }
        let answer = try await session.hub.ask(
            MessageMethod.askServer, ServerQuery(path: request.path, data: data),
            timeout: .milliseconds(request.timeoutMilliseconds ?? 10_000), id: requestID)
        return GatewayAPI.MessageData(answer.data)
    }
}

extension GatewayAPI.MessageData {
    init(_ data: ThingModel.MessageData) {
        self.init(data: data.json.stringValue ?? "")
    }
}
