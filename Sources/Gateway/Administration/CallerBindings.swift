import GatewayAPI
import IoTCore
import IoTLink

struct CallerBindings: GatewayBindings {
    let session: CallerSession

    func list(of device: String, _ page: PageRequest) async throws -> Page<BindingDescription> {
        let reference = DeviceReference(device: try await session.target(device))
        let bindings = try await session.hub.ask(DeviceMethod.users, reference).users
        return Page(of: bindings, page, by: \.accessId)
    }

    func share(_ device: String, _ request: ShareRequest, requestID: String?) async throws -> ShareResponse {
        try await session.hub.ask(
            DeviceMethod.share,
            ShareGrant(
                device: try await session.target(device), actions: request.actions.map(BindingActions.init),
                ttlSeconds: request.ttlSeconds, within: session.token), id: requestID)
    }

    func subscribe(_ request: SubscriptionRequest, requestID: String?) async throws -> BindingResponse {
        try await session.changingRights {
            try await session.hub.ask(DeviceMethod.subscribe, TokenText(token: request.token), id: requestID)
        }
    }

    func bind(
        _ device: String, _ user: AccessID, _ request: BindingRequest, requestID: String?
    ) async throws -> BindingResponse {
        let keys = CallerDevices(session: session)
        try await keys.checkKey(of: device)
        let binding = try await session.changingRights(owner: request.role == .owner ? user.rawValue : nil) {
            try await session.hub.ask(
                DeviceMethod.bind,
                BindingGrant(
                    device: try await session.target(device), user: user, role: request.role,
                    actions: request.actions.map(BindingActions.init), force: request.force), id: requestID)
        }
        if user == session.caller.account { try? await keys.checkKey(of: device) }
        return binding
    }

    func unbind(_ device: String, _ user: AccessID, requestID: String?) async throws {
        try await session.changingRights {
            _ = try await session.hub.ask(
                DeviceMethod.unbind, BindingReference(device: try await session.target(device), user: user),
                id: requestID)
        }
    }
}
