import GatewayAPI
import IoTCore
import IoTLink

extension AccountGateway {
    // MARK: Accounts

    func users(_ page: PageRequest) async throws -> Page<UserDescription> {
        try await hub.page(UserDescription.self, UserMethod.list, page, key: "users", name: "accessId")
    }

    func createUser(_ user: AccessID, kind: AccountKind, requestID: String?) async throws -> UserResponse {
        try await hub.ask(
            UserResponse.self, UserMethod.create, ["accessId": .string(user.rawValue), "kind": .string(kind.rawValue)],
            id: requestID)
    }

    func createTemporaryUser(
        _ request: TemporaryUserRequest, requestID: String?
    ) async throws -> TemporaryUserResponse {
        try await changingRights {
            try await hub.ask(
                TemporaryUserResponse.self, UserMethod.createTemporary,
                [
                    "device": .string(try await target(request.device)), "actions": .list(request.actions),
                    "ttlSeconds": .integer(request.ttlSeconds), "within": token,
                ], id: requestID)
        }
    }

    func removeUser(_ user: AccessID, requestID: String?) async throws {
        try await changingRights {
            _ = try await hub.ask(UserMethod.remove, ["accessId": .string(user.rawValue)], id: requestID)
        }
    }

    // MARK: Bindings

    func bindings(_ device: String, _ page: PageRequest) async throws -> Page<BindingDescription> {
        let result = try await hub.ask(DeviceMethod.users, ["device": .string(try await target(device))])
        guard let users = result["users"]?.arrayValue else {
            throw IoTError(.modelReceiveFailed, "device.users: the hub's answer has no list")
        }
        let bindings = try users.map { user throws(IoTError) in try HubClient.read(BindingDescription.self, user) }
        return Page(of: bindings, page, by: \.accessId)
    }

    func share(_ device: String, _ request: ShareRequest, requestID: String?) async throws -> ShareResponse {
        try await hub.ask(
            ShareResponse.self, DeviceMethod.share,
            [
                "device": .string(try await target(device)), "actions": .list(request.actions),
                "ttlSeconds": request.ttlSeconds.map { .integer($0) }, "within": token,
            ], id: requestID)
    }

    func subscribe(_ request: SubscriptionRequest, requestID: String?) async throws -> BindingResponse {
        try await changingRights {
            try await hub.ask(
                BindingResponse.self, DeviceMethod.subscribe, ["token": .string(request.token)], id: requestID)
        }
    }

    func bind(
        _ device: String, _ user: AccessID, _ request: BindingRequest, requestID: String?
    ) async throws -> BindingResponse {
        try await changingRights(owner: request.role == .owner ? user.rawValue : nil) {
            try await hub.ask(
                BindingResponse.self, DeviceMethod.bind,
                [
                    "device": .string(try await target(device)), "user": .string(user.rawValue),
                    "role": .text(request.role?.rawValue), "actions": .list(request.actions),
                    "force": request.force.map { .bool($0) },
                ], id: requestID)
        }
    }

    func unbind(_ device: String, _ user: AccessID, requestID: String?) async throws {
        try await changingRights {
            _ = try await hub.ask(
                DeviceMethod.unbind,
                ["device": .string(try await target(device)), "user": .string(user.rawValue)], id: requestID)
        }
    }

    /// What anyone may do is asked anew behind it, so that event streams follow at once.
    ///
    /// - Parameter owner: who is to own a device by it. The hub calls a temporary account there a wrong request; here it
    ///   is the account's state that does not allow it.
    private func changingRights<Value: Sendable>(
        owner: String? = nil, _ change: () async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await change()
            await shared.rights.invalidate()
            return value
        } catch {
            // Even a request without an answer may have been carried out.
            await shared.rights.invalidate()
            // The hub names temporary accounts so; a repeated request gets this answer also when the account is gone.
            if let owner, owner.hasPrefix("temporary-"), let refusal = error as? IoTError,
                refusal.code == .invalidRequest
            {
                throw IoTError(.operationNotAllowed, refusal.message, remedy: "choose another account as the owner")
            }
            throw error
        }
    }

    // MARK: Tokens

    /// The API token that asks, by its id: what is made with it must not outlive or exceed it, which the hub sees to.
    private var token: JSONValue? {
        if case .token(let id) = caller.credentials { .string(id) } else { nil }
    }

    func tokens(_ page: PageRequest) async throws -> Page<TokenDescription> {
        try await hub.page(TokenDescription.self, TokenMethod.list, page, key: "tokens", name: "id")
    }

    func createToken(_ request: TokenRequest, requestID: String?) async throws -> TokenResponse {
        let devices = JSONValue.list(request.devices)
        let result: JSONValue
        switch request.kind {
        case .link:
            let principal = request.user.flatMap(AccessID.init(rawValue:)).map { Principal.user($0).description }
            result = try await hub.ask(
                TokenMethod.create,
                [
                    "principal": .text(principal), "name": .text(request.name),
                    "ttlSeconds": .number(request.ttlSeconds), "within": token,
                ], id: requestID)
        case .api:
            result = try await hub.ask(
                TokenMethod.createAPI,
                [
                    "user": .text(request.user), "name": .text(request.name), "devices": devices,
                    "actions": .list(request.actions), "ttlSeconds": .number(request.ttlSeconds), "within": token,
                ], id: requestID)
        case .enrolment:
            result = try await hub.ask(
                TokenMethod.enrol,
                [
                    "user": .text(request.user), "devices": devices, "ttlSeconds": .number(request.ttlSeconds),
                    "within": token,
                ], id: requestID)
        }
        guard let id = result["id"]?.stringValue, let expires = result["expires"]?.integerValue else {
            throw IoTError(.modelReceiveFailed, "the hub's answer holds no token")
        }
        return TokenResponse(
            id: id, kind: request.kind, token: result["token"]?.stringValue,
            enrolment: result["enrolment"]?.stringValue, expires: expires)
    }

    func revokeToken(_ id: String) async throws {
        guard try await !shared.usesToken(id) else {
            throw IoTError(
                .operationNotAllowed, "this daemon itself uses the token \(id)",
                remedy: "revoke another; the daemon renews its own")
        }
        _ = try await hub.ask(TokenMethod.revoke, ["id": .string(id)])
    }

    // MARK: Media keys

    func keys(_ page: PageRequest) async throws -> Page<KeyDescription> {
        try await hub.page(KeyDescription.self, KeyMethod.list, page, key: "keys", name: "id")
    }

    func createKey(_ request: KeyRequest, requestID: String?) async throws -> KeyResponse {
        try await hub.ask(
            KeyResponse.self, KeyMethod.create,
            [
                "name": .string(request.name), "user": .text(request.user), "devices": .list(request.devices),
                "actions": .list(request.actions), "ttlSeconds": .integer(request.ttlSeconds), "within": token,
            ], id: requestID)
    }

    func revokeKey(_ id: String, requestID: String?) async throws {
        _ = try await hub.ask(KeyMethod.revoke, ["id": .string(id)], id: requestID)
    }

    // MARK: Devices

    func createDevice(_ request: DeviceRequest, requestID: String?) async throws -> DeviceResponse {
        try await changingRights(owner: request.owner) {
            try await hub.ask(
                DeviceResponse.self, DeviceMethod.create,
                ["name": .string(request.name), "owner": .text(request.owner)],
                id: requestID)
        }
    }

    func renameDevice(_ device: String, to name: String, requestID: String?) async throws {
        try await changingRights {
            _ = try await hub.ask(
                DeviceMethod.rename, ["device": .string(try await target(device)), "name": .string(name)], id: requestID
            )
        }
    }

    func removeDevice(_ device: String, requestID: String?) async throws {
        try await changingRights {
            _ = try await hub.ask(DeviceMethod.remove, ["device": .string(try await target(device))], id: requestID)
        }
    }
}
