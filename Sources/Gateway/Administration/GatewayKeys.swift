package import GatewayAPI

/// Media keys.
package protocol GatewayKeys: Sendable {
    func list(_ page: PageRequest) async throws -> Page<KeyDescription>
    func create(_ request: KeyRequest, requestID: String?) async throws -> KeyResponse
    func revoke(_ id: String, requestID: String?) async throws
}
