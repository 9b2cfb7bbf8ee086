import GatewayAPI
import IoTCore
import IoTLink

struct CallerTokens: GatewayTokens {
    let session: CallerSession

    func list(_ page: PageRequest) async throws -> Page<TokenDescription> {
        try await session.hub.page(TokenMethod.list, page)
    }

    func create(_ request: TokenRequest, requestID: String?) async throws -> TokenResponse {
        let (user, actions) = (try session.account(request.user), request.actions.map(BindingActions.init))
        switch request.kind {
        case .link:
            let made = try await session.hub.ask(
                TokenMethod.create,
                LinkTokenCreation(
                    principal: user.map { .user($0) }, name: request.name, ttlSeconds: try Self.lifetime(request),
                    within: session.token), id: requestID)
            return TokenResponse(id: made.id, kind: .link, token: made.token, expires: made.expires)
        case .api:
            let made = try await session.hub.ask(
                TokenMethod.createAPI,
                APITokenCreation(
                    name: request.name, scope: CredentialScope(user: user, devices: request.devices, actions: actions),
                    ttlSeconds: try Self.lifetime(request), within: session.token), id: requestID)
            return TokenResponse(id: made.id, kind: .api, token: made.token, expires: made.expires)
        case .enrolment:
            let made = try await session.hub.ask(
                TokenMethod.enrol,
                EnrolmentCreation(
                    user: user, devices: request.devices ?? [], ttlSeconds: request.ttlSeconds, within: session.token),
                id: requestID)
            return TokenResponse(id: made.id, kind: .enrolment, enrolment: made.enrolment, expires: made.expires)
        }
    }

    func createProvisioning(
        _ request: ProvisioningTokenRequest, requestID: String?
    ) async throws -> ProvisioningToken {
        let device = if let device = request.device { try await session.target(device) } else { nil as String? }
        return try await session.hub.ask(
            ProvisioningMethod.token,
            ProvisioningTokenCreation(device: device, ttlSeconds: request.ttlSeconds, within: session.token),
            id: requestID)
    }

    func provisioning(_ id: String) async throws -> ProvisioningStatus {
        try await session.hub.ask(ProvisioningMethod.show, CredentialReference(id: id))
    }

    private static func lifetime(_ request: TokenRequest) throws(IoTError) -> Int64 {
        guard let seconds = request.ttlSeconds else { throw IoTError(.invalidRequest, "ttlSeconds is missing") }
        return seconds
    }

    func revoke(_ id: String) async throws {
        guard try await !session.gateway.usesToken(id) else {
            throw IoTError(
                .operationNotAllowed, "this daemon itself uses the token \(id)",
                remedy: "revoke another token; the daemon renews its own")
        }
        _ = try await session.hub.ask(TokenMethod.revoke, CredentialReference(id: id))
    }
}
