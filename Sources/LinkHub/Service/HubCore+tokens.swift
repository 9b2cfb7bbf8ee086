import IoTCore
import IoTLink
import NIOCore

/// Tokens: link tokens, which are credentials of the broker, and API tokens, which gateways check at the hub.
extension HubCore {
    /// The least time between two renewals of one principal.
    static let renewalPause: TimeAmount = .seconds(10)

    // MARK: Requests

    mutating func createToken(_ call: HubCall<LinkTokenCreation>) throws(IoTError) -> IssuedToken {
        let parent = try parentToken(call.parameters.within, call.permit)
        try Self.checkPassesAllOn(parent)
        return try issueToken(
            call.permit.subject ?? call.permit.actor, lifetime: call.parameters.ttlSeconds,
            name: try CredentialName.check(call.parameters.name), parent: parent?.id, at: call.time)
    }

    /// The API token with which a client asked a gateway, as the gateway says (`within`). What is made with it may
    /// neither outlive nor exceed it, and ends with it. `nil` if the account asks directly.
    ///
    /// - Throws: 25004 if the token has ended.
    func parentToken(_ id: String?, _ permit: HubPermit) throws(IoTError) -> TokenRecord? {
        guard let id else { return nil }
        guard let token = state.tokens[id], token.kind == .api, token.principal == permit.actor else {
            throw IoTError(
                .unauthenticated, "the API token of this request has ended",
                remedy: "make a new one with `iotctl token create --api`")
        }
        return token
    }

    /// A link token or an enrolment has all of its account's rights, so an API token with restrictions cannot make one.
    static func checkPassesAllOn(_ parent: TokenRecord?) throws(IoTError) {
        guard let scope = parent?.scope, scope.devices != nil || scope.actions != nil else { return }
        throw IoTError(
            .forbidden, "an API token for some devices or actions makes no token that has all of the account's rights",
            remedy: "make an API token with it, or use one without such limits")
    }

    /// The scope of an API token that is made with another: it may not exceed the other's scope.
    private static func scope(
        _ wanted: TokenRecord.Scope, within parent: TokenRecord?
    ) throws(IoTError) -> TokenRecord.Scope {
        guard let limit = parent?.scope else { return wanted }
        var scope = wanted
        if let devices = limit.devices {
            scope.devices = wanted.devices ?? devices
            guard Set(devices).isSuperset(of: scope.devices ?? []) else { throw exceeds("devices") }
        }
        if let actions = limit.actions {
            scope.actions = wanted.actions ?? actions
            guard actions.isSuperset(of: scope.actions ?? []) else { throw exceeds("actions") }
        }
        return scope
    }

    private static func exceeds(_ what: String) -> IoTError {
        IoTError(
            .forbidden, "an API token cannot make another with more \(what) than its own",
            remedy: "name only \(what) of this token, or none")
    }

    mutating func createAPIToken(_ call: HubCall<APITokenCreation>) throws(IoTError) -> IssuedToken {
        let time = call.time
        let user = try call.permit.account()
        let parent = try parentToken(call.parameters.within, call.permit)
        let scope = try scope(call.parameters.scope, of: user, within: parent)
        let expires = try tokenExpiry(.user(user), lifetime: call.parameters.ttlSeconds, parent: parent?.id, at: time)
        let claims = APITokenClaims(
            sub: Principal.user(user).description, jti: RequestID.random(), iat: time.seconds, exp: expires)
        let token = try authority.sign(claims)
        keep(
            TokenRecord(
                id: claims.jti, kind: .api, name: try CredentialName.check(call.parameters.name),
                principal: .user(user),
                issued: claims.iat, expires: expires,
                isLocal: false, scope: scope, parent: parent?.id))
        return IssuedToken(id: claims.jti, token: token, expires: expires)
    }

    /// The scope of an account's new token or key.
    func scope(
        _ wanted: CredentialScope, of user: AccessID, within parent: TokenRecord?
    ) throws(IoTError) -> TokenRecord.Scope {
        var devices: [DeviceID]?
        if let names = wanted.devices {
            devices = []
            for name in names { devices?.append(try boundDevice(named: name, of: user)) }
        }
        return try Self.scope(TokenRecord.Scope(devices: devices, actions: wanted.actions), within: parent)
    }

    /// A device that the account of the token is bound to, independent of who sends the request.
    private func boundDevice(named text: String, of user: AccessID) throws(IoTError) -> DeviceID {
        let id = DeviceID(rawValue: text)
        guard let device = id ?? state.names[text], state.devices[device] != nil,
            id != nil || state.bindings[device, user] != nil
        else {
            throw IoTError(
                .targetNotFound, "'\(user)' has no device '\(text.prefix(64))'",
                remedy: "bind it first with `iotctl device bind`")
        }
        guard state.bindings[device, user] != nil else {
            throw IoTError(
                .relationInvalid, "'\(user)' is not bound to \(device)",
                remedy: "bind it first: `iotctl device bind \(device) \(user)`")
        }
        return device
    }

    /// Issues a token with the lifetime of the present one: of `token`, if the caller sends it, otherwise of the newest
    /// one.
    mutating func renewToken(_ call: HubCall<TokenRenewalParameters>) throws(IoTError) -> IssuedToken {
        let (permit, time) = (call.permit, call.time)
        let principal = permit.requester.address.principal
        guard permit.actor == principal else {
            throw IoTError(
                .forbidden, "token.renew: renew only your own token", remedy: "make one with token.create")
        }
        let present = try presentToken(call.parameters.token, principal)
        // A token with a lifetime of seconds is renewed more often.
        let pause = min(Self.renewalPause, .milliseconds((present.expires - present.issued) * 1000 / 6))
        if let last = renewals[principal], time.monotonic - last < pause {
            throw IoTError(.tooManyRequests, "token.renew: a new token was given just now", remedy: "wait 10 s")
        }
        let issued = try issueToken(
            principal, lifetime: max(1, present.expires - present.issued), name: present.name,
            isLocal: present.isLocal, parent: present.parent, at: time)
        renewals[principal] = time.monotonic
        return issued
    }

    private func presentToken(
        _ text: String?, _ principal: Principal
    ) throws(IoTError) -> TokenRecord {
        let own = state.tokens.of(principal).filter { $0.kind == .link }
        if let text {
            guard let claims = authority.verify(text, as: LinkTokenClaims.self),
                let token = own.first(where: { $0.id == claims.jti })
            else { throw IoTError(.tokenRejected, "token.renew: 'token' is not one of your tokens") }
            return token
        }
        let newest = own.max { ($0.issued, $1.expires) < ($1.issued, $0.expires) }
        guard let newest else { throw IoTError(.tokenRejected, "token.renew: you have no token") }
        return newest
    }

    /// The account of the API token, and what the token allows. The check counts as a use.
    mutating func checkToken(_ text: String, at time: HubTime) throws(IoTError) -> CredentialGrant {
        guard let claims = authority.verify(text, as: APITokenClaims.self),
            let token = state.tokens[claims.jti], token.kind == .api,
            token.principal.description == claims.sub, token.expires > time.seconds,
            let user = token.principal.accessID, let account = state.users[user]
        else {
            throw IoTError(
                .unauthenticated, "the hub does not know this API token",
                remedy: "make a new one with `iotctl token create --api`")
        }
        noteUse(of: .token(token.id), after: token.lastUse, at: time)
        return CredentialGrant(
            id: token.id, account: user, kind: account.kind, expires: token.expires,
            devices: token.scope.devices?.map(\.rawValue), actions: token.scope.actions?.list)
    }

    func listTokens(_ query: PageQuery, _ permit: HubPermit) -> LinkPage<TokenDescription> {
        var ids: [String]
        if permit.isAdministrator {
            ids = state.tokens.values.map(\.id) + Array(state.enrolments.keys)
        } else {
            ids = state.tokens.of(permit.actor).map(\.id)
            ids += state.enrolments.values.filter { Self.holders(of: $0).contains(permit.actor) }.map(\.id)
        }
        return page(ids, query) { id in
            state.tokens[id].map(Self.describe) ?? state.enrolments[id].map(Self.describe)
        }
    }

    private static func describe(_ token: TokenRecord) -> TokenDescription {
        TokenDescription(
            id: token.id, kind: token.kind == .api ? .api : .link, name: token.name,
            principal: token.principal.description, issued: token.issued, expires: token.expires,
            devices: token.scope.devices?.map(\.rawValue), actions: token.scope.actions?.list,
            isLocal: token.isLocal, lastUse: token.lastUse, parent: token.parent)
    }

    private static func describe(_ enrolment: EnrolmentRecord) -> TokenDescription {
        TokenDescription(
            id: enrolment.id, kind: .enrolment, principal: enrolment.user.map { Principal.user($0).description },
            issued: enrolment.issued, expires: enrolment.expires, devices: enrolment.devices.map(\.rawValue),
            isLocal: false)
    }

    /// The holders of a token or enrolment; `nil` if the id is unknown.
    func holders(ofToken id: String) -> Set<Principal>? {
        state.tokens[id].map { [$0.principal] } ?? state.enrolments[id].map(Self.holders)
    }

    private static func holders(of enrolment: EnrolmentRecord) -> Set<Principal> {
        Set([enrolment.creator] + (enrolment.user.map { [.user($0)] } ?? []))
    }

    // MARK: Requests and the daemon's own calls

    /// - Parameters:
    ///   - lifetime: Seconds. A temporary account's tokens expire with it at the latest.
    ///   - parent: The API token that it is made with; it expires with that one at the latest.
    mutating func issueToken(
        _ principal: Principal, lifetime: Int64, name: String? = nil, isLocal: Bool = false, parent: String? = nil,
        at time: HubTime
    ) throws(IoTError) -> IssuedToken {
        let expires = try tokenExpiry(principal, lifetime: lifetime, parent: parent, at: time)
        let claims = LinkTokenClaims(
            sub: principal.description, jti: RequestID.random(), iat: time.seconds, exp: expires)
        let token = try authority.sign(claims)
        let credential = BrokerCredential.make(tokenID: claims.jti, principal: principal, token: token)
        keep(
            TokenRecord(
                id: claims.jti, kind: .link, name: name, principal: principal, credential: credential,
                issued: claims.iat,
                expires: expires, isLocal: isLocal, parent: parent))
        turn.outputs.append(.addCredential(credential, token: token))
        return IssuedToken(id: claims.jti, token: token, expires: expires)
    }

    /// Ends a token or an enrolment. The broker ends the sessions that use it; a principal without another token is
    /// notified of the reason.
    mutating func revokeToken(_ id: String, at time: HubTime) throws(IoTError) {
        if let token = state.tokens[id] {
            let isLast = state.tokens.of(token.principal).allSatisfy { $0.id == id || $0.kind != .link }
            if token.kind == .link, isLast { kick(token.principal, .revoked, at: time) }
            removeToken(id)
        } else if state.enrolments[id] != nil {
            removeEnrolments { $0.id == id }
            updateAccountExpiry()
        } else {
            throw IoTError(.notFound, "there is no token \(id)", remedy: "list them with `iotctl token list`")
        }
    }

    /// Revokes the tokens of a principal for which `isOutdated` is true.
    mutating func removeTokens(of principal: Principal, _ isOutdated: (TokenRecord) -> Bool) {
        for token in state.tokens.of(principal) where isOutdated(token) { removeToken(token.id) }
    }

    mutating func expireTokens(at time: HubTime) {
        for id in state.tokens.expired(at: time.seconds) { removeToken(id) }
        for id in state.keys.expired(at: time.seconds) { removeKey(id) }
    }

    // MARK: Helpers

    /// When a token with this lifetime expires. Throws if the principal cannot have a token.
    private func tokenExpiry(
        _ principal: Principal, lifetime: Int64, parent: String?, at time: HubTime
    ) throws(IoTError) -> Int64 {
        guard state.tokens.count(of: principal) < limits.tokensOfPrincipal else {
            throw IoTError(
                .tooManyRequests, "\(principal) has \(limits.tokensOfPrincipal) tokens",
                remedy: "revoke some: `iotctl token list`, `iotctl token revoke`")
        }
        return try expiry(principal, lifetime: lifetime, parent: parent, at: time)
    }

    /// When a token or key with this lifetime expires.
    func expiry(
        _ principal: Principal, lifetime: Int64, parent: String?, at time: HubTime
    ) throws(IoTError) -> Int64 {
        try requireKnown(principal)
        guard Lifetimes.credentials.contains(lifetime) else {
            throw IoTError(.invalidRequest, "a token's lifetime is 1 s to 10 years")
        }
        let end = principal.accessID.flatMap { state.users[$0]?.expires } ?? .max
        guard end > time.seconds else {
            throw IoTError(
                .targetNotFound, "the account has expired", remedy: "make another: `iotctl user temporary`")
        }
        return min(time.seconds + lifetime, end, parent.flatMap { state.tokens[$0]?.expires } ?? .max)
    }

    private mutating func keep(_ token: TokenRecord) {
        state.tokens.add(token)
        turn.changes.append(.addToken(token))
    }

    private mutating func removeToken(_ id: String) {
        guard let token = state.tokens.remove(id) else { return }
        turn.changes.append(.removeToken(id))
        if token.credential != nil { turn.outputs.append(.removeCredential(tokenID: id)) }
        guard token.kind == .api else { return }
        for child in state.tokens.children(of: id) { removeToken(child) }
        for key in state.keys.children(of: id) { removeKey(key) }
        if state.enrolments.values.contains(where: { $0.parent == id }) {
            removeEnrolments { $0.parent == id }
            updateAccountExpiry()
        }
    }
}
