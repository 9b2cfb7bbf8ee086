package import GatewayAPI
package import IoTCore

/// Tokens for links, for APIs such as the HTTP API, and for enrolment.
package protocol GatewayTokens: Sendable {
    func list(_ page: PageRequest) async throws -> Page<TokenDescription>
    func create(_ request: TokenRequest, requestID: String?) async throws -> TokenResponse
    func revoke(_ id: String) async throws

    /// A token for a device that is to come.
    func createProvisioning(
        _ request: ProvisioningTokenRequest, requestID: String?
    ) async throws -> ProvisioningToken
    func provisioning(_ id: String) async throws -> ProvisioningStatus
}
