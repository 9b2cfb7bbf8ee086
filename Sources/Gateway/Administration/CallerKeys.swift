import GatewayAPI
import IoTCore
import IoTLink

struct CallerKeys: GatewayKeys {
    let session: CallerSession

    func list(_ page: PageRequest) async throws -> Page<KeyDescription> {
        try await session.hub.page(KeyDescription.self, KeyMethod.list, page, key: "keys", name: "id")
    }

    func create(_ request: KeyRequest, requestID: String?) async throws -> KeyResponse {
        try await session.hub.ask(
            KeyResponse.self, KeyMethod.create,
            [
                "name": .string(request.name), "user": .text(request.user), "devices": .list(request.devices),
                "actions": .list(request.actions), "ttlSeconds": .integer(request.ttlSeconds), "within": session.token,
            ], id: requestID)
    }

    func revoke(_ id: String, requestID: String?) async throws {
        _ = try await session.hub.ask(KeyMethod.revoke, ["id": .string(id)], id: requestID)
    }
}
