package import GatewayAPI

/// Tokens for links, for doors such as the HTTP API, and for joining.
package protocol GatewayTokens: Sendable {
    func list(_ page: PageRequest) async throws -> Page<TokenDescription>
    func create(_ request: TokenRequest, requestID: String?) async throws -> TokenResponse
    func revoke(_ id: String) async throws
}
