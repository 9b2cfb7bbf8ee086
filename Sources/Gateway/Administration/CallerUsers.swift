import GatewayAPI
import IoTCore
import IoTLink

struct CallerUsers: GatewayUsers {
    let session: CallerSession

    func list(_ page: PageRequest) async throws -> Page<UserDescription> {
        try await session.hub.page(UserMethod.list, page)
    }

    func create(_ user: AccessID, kind: AccountKind, requestID: String?) async throws -> UserResponse {
        try await session.hub.ask(UserMethod.create, UserCreation(accessId: user, kind: kind), id: requestID)
    }

    func createTemporary(
        _ request: TemporaryUserRequest, requestID: String?
    ) async throws -> TemporaryUserResponse {
        try await session.changingRights {
            try await session.hub.ask(
                UserMethod.createTemporary,
                TemporaryUserCreation(
                    device: try await session.target(request.device), actions: request.actions.map(BindingActions.init),
                    ttlSeconds: request.ttlSeconds, oneCall: request.oneCall, within: session.token), id: requestID)
        }
    }

    func remove(_ user: AccessID, requestID: String?) async throws {
        try await session.changingRights {
            _ = try await session.hub.ask(UserMethod.remove, UserReference(accessId: user), id: requestID)
        }
        try? await session.gateway.deviceKeys.forget(user)
        try? await session.gateway.notices?.remove(user)
    }
}
