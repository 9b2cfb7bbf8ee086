import GatewayAPI
import IoTCore

@testable import Gateway

struct ScriptedMessages: GatewayMessages {
    let session: ScriptedSession

    func send(
        _ device: String, _ message: DeviceMessage, requestID: String?
    ) async throws -> MessageResponse {
        try session.note()
        return MessageResponse(responses: [MessageData(data: message.data)])
    }

    func responses(
        _ device: String, _ message: DeviceMessage, requestID: String?
    ) async throws -> AsyncStream<MessageEvent> {
        try session.note()
        return AsyncStream { $0.finish() }
    }

    func askServer(_ request: ServerMessageRequest, requestID: String?) async throws -> MessageData {
        try session.note()
        return MessageData(data: "")
    }
}

struct ScriptedEvents: GatewayEvents {
    let session: ScriptedSession

    func stored(_ query: StoredEventQuery) async throws -> StoredEventList {
        try session.note()
        return StoredEventList(events: [], more: false)
    }

    func deleteStored(_ deletion: StoredEventDeletion) async throws -> StoredEventDeletionResponse {
        try session.note()
        return StoredEventDeletionResponse(deleted: 0)
    }

    func follow(
        _ kinds: Set<GatewayEvent.Kind>, device: String?, after lastID: String?
    ) async throws -> AsyncStream<NumberedEvent> {
        try session.note()
        guard device != "silent" else {
            return AsyncStream(unfolding: {
                try? await Task.sleep(for: .seconds(3600))
                return nil
            })
        }
        return AsyncStream { $0.finish() }
    }
}
