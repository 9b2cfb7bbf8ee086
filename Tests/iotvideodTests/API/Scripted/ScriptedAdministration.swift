import GatewayAPI
import IoTCore

@testable import Gateway

struct ScriptedUsers: GatewayUsers {
    let session: ScriptedSession

    func list(_ page: PageRequest) async throws -> Page<UserDescription> {
        try session.note()
        return Page([])
    }

    func create(_ user: AccessID, kind: AccountKind, requestID: String?) async throws -> UserResponse {
        try session.note()
        return UserResponse(accessId: user.rawValue, kind: kind)
    }

    func createTemporary(
        _ request: TemporaryUserRequest, requestID: String?
    ) async throws -> TemporaryUserResponse {
        try session.note()
        return TemporaryUserResponse(accessId: "temporary-1", expires: 1)
    }

    func remove(_ user: AccessID, requestID: String?) async throws { try session.note() }
}

struct ScriptedBindings: GatewayBindings {
    let session: ScriptedSession

    func list(of device: String, _ page: PageRequest) async throws -> Page<BindingDescription> {
        try session.note()
        return Page([])
    }

    func share(_ device: String, _ request: ShareRequest, requestID: String?) async throws -> ShareResponse {
        try session.note()
        return ShareResponse(token: "secret.of.token", actions: [.view], expires: 1)
    }

    func subscribe(_ request: SubscriptionRequest, requestID: String?) async throws -> BindingResponse {
        try session.note()
        return BindingResponse(device: "d", user: "a", role: .guest, actions: [.view])
    }

    func bind(
        _ device: String, _ user: AccessID, _ request: BindingRequest, requestID: String?
    ) async throws -> BindingResponse {
        try session.note()
        return BindingResponse(device: device, user: user.rawValue, role: request.role ?? .guest, actions: [.view])
    }

    func unbind(_ device: String, _ user: AccessID, requestID: String?) async throws { try session.note() }
}

struct ScriptedTokens: GatewayTokens {
    let session: ScriptedSession

    func list(_ page: PageRequest) async throws -> Page<TokenDescription> {
        try session.note()
        return Page([])
    }

    func create(_ request: TokenRequest, requestID: String?) async throws -> TokenResponse {
        try session.note()
        return TokenResponse(id: "1", kind: request.kind, token: "secret.of.token", expires: 1)
    }

    func revoke(_ id: String) async throws { try session.note() }

    func createProvisioning(
        _ request: ProvisioningTokenRequest, requestID: String?
    ) async throws -> ProvisioningToken {
        try session.note()
        return ProvisioningToken(
            id: "enrol-0123456789", token: "secret.of.token", hub: "iotlink://h:1", enrolment: "secret.of.token",
            expires: 1)
    }

    func provisioning(_ id: String) async throws -> ProvisioningStatus {
        try session.note()
        return ProvisioningStatus(id: id, phase: .waiting, expires: 1)
    }
}

struct ScriptedKeys: GatewayKeys {
    let session: ScriptedSession

    func list(_ page: PageRequest) async throws -> Page<KeyDescription> {
        try session.note()
        return Page([])
    }

    func create(_ request: KeyRequest, requestID: String?) async throws -> KeyResponse {
        try session.note()
        return KeyResponse(id: "0123456789", name: request.name, key: RouterFixture.key, expires: 1)
    }

    func revoke(_ id: String, requestID: String?) async throws { try session.note() }
}

struct ScriptedNotices: GatewayNotices {
    let session: ScriptedSession

    func show() async throws -> NoticeDescription {
        try session.note()
        return NoticeDescription(url: "https://receiver.example/")
    }

    func set(_ request: NoticeRequest) async throws -> NoticeDescription {
        try session.note()
        return NoticeDescription(url: request.url)
    }

    func remove() async throws { try session.note() }
}
