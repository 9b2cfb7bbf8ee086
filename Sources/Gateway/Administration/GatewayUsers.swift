package import GatewayAPI
package import IoTCore

/// The accounts of the hub.
package protocol GatewayUsers: Sendable {
    func list(_ page: PageRequest) async throws -> Page<UserDescription>
    func create(_ user: AccessID, kind: AccountKind, requestID: String?) async throws -> UserResponse
    func createTemporary(_ request: TemporaryUserRequest, requestID: String?) async throws -> TemporaryUserResponse
    func remove(_ user: AccessID, requestID: String?) async throws
}
