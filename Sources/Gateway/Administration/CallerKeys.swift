import GatewayAPI
import IoTCore
import IoTLink

struct CallerKeys: GatewayKeys {
    let session: CallerSession

    func list(_ page: PageRequest) async throws -> Page<KeyDescription> {
        try await session.hub.page(KeyMethod.list, page)
    }

    func create(_ request: KeyRequest, requestID: String?) async throws -> KeyResponse {
        try await session.hub.ask(
            KeyMethod.create,
            KeyCreation(
                name: request.name,
                scope: CredentialScope(
                    user: try session.account(request.user), devices: request.devices,
                    actions: request.actions.map(BindingActions.init)), ttlSeconds: request.ttlSeconds,
                within: session.token), id: requestID)
    }

    func revoke(_ id: String, requestID: String?) async throws {
        _ = try await session.hub.ask(KeyMethod.revoke, CredentialReference(id: id), id: requestID)
    }
}
