import GatewayAPI
import IoTCore
import IoTLink

struct CallerUsers: GatewayUsers {
    let session: CallerSession

    func list(_ page: PageRequest) async throws -> Page<UserDescription> {
        try await session.hub.page(UserDescription.self, UserMethod.list, page, key: "users", name: "accessId")
    }

    func create(_ user: AccessID, kind: AccountKind, requestID: String?) async throws -> UserResponse {
        try await session.hub.ask(
            UserResponse.self, UserMethod.create, ["accessId": .string(user.rawValue), "kind": .string(kind.rawValue)],
            id: requestID)
    }

    func createTemporary(
        _ request: TemporaryUserRequest, requestID: String?
    ) async throws -> TemporaryUserResponse {
        try await session.changingRights {
            try await session.hub.ask(
                TemporaryUserResponse.self, UserMethod.createTemporary,
                [
                    "device": .string(try await session.target(request.device)), "actions": .list(request.actions),
                    "ttlSeconds": .integer(request.ttlSeconds), "within": session.token,
                ], id: requestID)
        }
    }

    func remove(_ user: AccessID, requestID: String?) async throws {
        try await session.changingRights {
            _ = try await session.hub.ask(UserMethod.remove, ["accessId": .string(user.rawValue)], id: requestID)
        }
    }
}
