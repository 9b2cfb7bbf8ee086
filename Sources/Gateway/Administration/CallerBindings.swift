import GatewayAPI
import IoTCore
import IoTLink

struct CallerBindings: GatewayBindings {
    let session: CallerSession

    func list(of device: String, _ page: PageRequest) async throws -> Page<BindingDescription> {
        let result = try await session.hub.ask(
            DeviceMethod.users, ["device": .string(try await session.target(device))])
        guard let users = result["users"]?.arrayValue else {
            throw IoTError(.modelReceiveFailed, "device.users: the hub's answer has no list")
        }
        let bindings = try users.map { user throws(IoTError) in try HubClient.read(BindingDescription.self, user) }
        return Page(of: bindings, page, by: \.accessId)
    }

    func share(_ device: String, _ request: ShareRequest, requestID: String?) async throws -> ShareResponse {
        try await session.hub.ask(
            ShareResponse.self, DeviceMethod.share,
            [
                "device": .string(try await session.target(device)), "actions": .list(request.actions),
                "ttlSeconds": request.ttlSeconds.map { .integer($0) }, "within": session.token,
            ], id: requestID)
    }

    func subscribe(_ request: SubscriptionRequest, requestID: String?) async throws -> BindingResponse {
        try await session.changingRights {
            try await session.hub.ask(
                BindingResponse.self, DeviceMethod.subscribe, ["token": .string(request.token)], id: requestID)
        }
    }

    func bind(
        _ device: String, _ user: AccessID, _ request: BindingRequest, requestID: String?
    ) async throws -> BindingResponse {
        try await session.changingRights(owner: request.role == .owner ? user.rawValue : nil) {
            try await session.hub.ask(
                BindingResponse.self, DeviceMethod.bind,
                [
                    "device": .string(try await session.target(device)), "user": .string(user.rawValue),
                    "role": .text(request.role?.rawValue), "actions": .list(request.actions),
                    "force": request.force.map { .bool($0) },
                ], id: requestID)
        }
    }

    func unbind(_ device: String, _ user: AccessID, requestID: String?) async throws {
        try await session.changingRights {
            _ = try await session.hub.ask(
                DeviceMethod.unbind,
                ["device": .string(try await session.target(device)), "user": .string(user.rawValue)], id: requestID)
        }
    }
}
