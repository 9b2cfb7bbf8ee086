import Gateway
import GatewayAPI
import Hummingbird
import IoTCore
import IoTLink

extension APIRoutes {
    static var users: [APIRoute] {
        [
            APIRoute(list: "/v1/users") { _, page, gateway in
                try Response(json: UserList(try await gateway.users.list(page)))
            },
            APIRoute(.post, "/v1/users") { request, gateway in
                let body = try await request.decode(UserRequest.self)
                // The name would conflict with the path /v1/users/temporary.
                guard body.accessId != AccountKind.temporary.rawValue else {
                    throw IoTError(.invalidRequest, "accessId: 'temporary' is reserved")
                }
                let kind = body.kind ?? .member
                guard kind != .temporary else {
                    throw IoTError(.invalidRequest, "kind: must be member or administrator; see /v1/users/temporary")
                }
                let made = try await gateway.users.create(
                    try APIRequest.account(body.accessId, "accessId"), kind: kind, requestID: try request.requestID)
                return try Response(json: made, status: .created)
            },
            APIRoute(.post, "/v1/users/temporary") { request, gateway in
                let body = try await request.decode(TemporaryUserRequest.self)
                try check(ttlSeconds: body.ttlSeconds, Lifetimes.temporaryAccounts)
                try checkActions(body.actions)
                let made = try await gateway.users.createTemporary(body, requestID: try request.requestID)
                return try Response(json: made, status: .created)
            },
            APIRoute(.delete, "/v1/users/{user}") { request, gateway in
                try await gateway.users.remove(try request.account("user"), requestID: try request.requestID)
                return try Response(json: EmptyResponse())
            },
        ]
    }

    static var bindings: [APIRoute] {
        [
            APIRoute(list: "/v1/devices/{device}/bindings") { request, page, gateway in
                try Response(json: BindingList(try await gateway.bindings.list(of: request.parameter("device"), page)))
            },
            APIRoute(.post, "/v1/devices/{device}/share") { request, gateway in
                let body = try await request.decode(ShareRequest.self)
                try checkActions(body.actions)
                if let seconds = body.ttlSeconds { try check(ttlSeconds: seconds, Lifetimes.subscriptions) }
                let made = try await gateway.bindings.share(
                    request.parameter("device"), body, requestID: try request.requestID)
                return try Response(json: made, status: .created)
            },
            APIRoute(.post, "/v1/subscriptions") { request, gateway in
                let body = try await request.decode(SubscriptionRequest.self)
                guard (1...4096).contains(body.token.utf8.count) else {
                    throw IoTError(.invalidRequest, "token: must be 1 to 4096 bytes")
                }
                return try Response(json: try await gateway.bindings.subscribe(body, requestID: try request.requestID))
            },
            APIRoute(.put, "/v1/devices/{device}/bindings/{user}") { request, gateway in
                let body = try await request.decode(BindingRequest.self)
                try checkActions(body.actions)
                guard body.role != .owner || body.actions == nil else {
                    throw IoTError(.invalidRequest, "actions: an owner may do everything; leave it out")
                }
                let made = try await gateway.bindings.bind(
                    request.parameter("device"), try request.account("user"), body, requestID: try request.requestID)
                return try Response(json: made)
            },
            APIRoute(.delete, "/v1/devices/{device}/bindings/{user}") { request, gateway in
                try await gateway.bindings.unbind(
                    request.parameter("device"), try request.account("user"), requestID: try request.requestID)
                return try Response(json: EmptyResponse())
            },
        ]
    }

    static var tokens: [APIRoute] {
        [
            APIRoute(list: "/v1/tokens") { _, page, gateway in
                try Response(json: TokenList(try await gateway.tokens.list(page)))
            },
            APIRoute(.post, "/v1/tokens") { request, gateway in
                let body = try await request.decode(TokenRequest.self)
                try check(body)
                let made = try await gateway.tokens.create(body, requestID: try request.requestID)
                return try Response(json: made, status: .created)
            },
            APIRoute(.delete, "/v1/tokens/{id}") { request, gateway in
                try await gateway.tokens.revoke(request.parameter("id"))
                return try Response(json: EmptyResponse())
            },
        ]
    }

    private static func check(_ body: TokenRequest) throws(IoTError) {
        if let user = body.user { _ = try APIRequest.account(user, "user") }
        try checkActions(body.actions)
        let limit = body.kind == .enrolment ? EnrolmentCreation.mostDevices : CredentialScope.mostDevices
        if let devices = body.devices, devices.isEmpty || devices.count > limit {
            throw IoTError(.invalidRequest, "devices: must be 1 to \(limit) devices; leave it out for all")
        }
        guard body.kind == .api || body.actions == nil else {
            throw IoTError(.invalidRequest, "actions is for kind api only")
        }
        guard body.kind != .enrolment || body.name == nil else {
            throw IoTError(.invalidRequest, "name is for kinds api and link only")
        }
        guard body.kind != .link || body.devices == nil else {
            throw IoTError(.invalidRequest, "devices is for kinds api and enrolment only")
        }
        let lifetimes = body.kind == .enrolment ? Lifetimes.enrolments : Lifetimes.credentials
        guard let lifetime = body.ttlSeconds else {
            guard body.kind == .enrolment else { throw IoTError(.invalidRequest, "ttlSeconds is missing") }
            return
        }
        try check(ttlSeconds: lifetime, lifetimes)
    }

    static func check(ttlSeconds: Int64, _ lifetimes: ClosedRange<Int64>) throws(IoTError) {
        guard lifetimes.contains(ttlSeconds) else {
            throw IoTError(
                .invalidRequest, "ttlSeconds must be from \(lifetimes.lowerBound) to \(lifetimes.upperBound)")
        }
    }

    static func checkActions(_ actions: [DeviceAction]?) throws(IoTError) {
        guard let actions else { return }
        guard !actions.isEmpty, Set(actions).count == actions.count else {
            throw IoTError(.invalidRequest, "actions: must be at least one, each only once")
        }
    }
}
