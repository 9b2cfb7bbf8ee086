import IoTCore
import IoTLink

/// Accounts.
extension HubCore {
    /// The maximum number of temporary accounts of one device.
    static let temporaryAccountsOfDevice = 64

    // MARK: Requests

    func listUsers(_ query: PageQuery) -> LinkPage<UserDescription> {
        page(state.users.keys.map(\.rawValue), query) { id in
            AccessID(rawValue: id).flatMap { state.users[$0] }.map { record in
                UserDescription(
                    accessId: id, kind: record.kind, device: record.device?.rawValue, expires: record.expires,
                    created: record.created)
            }
        }
    }

    mutating func createUser(_ call: HubCall<UserCreation>) throws(IoTError) -> UserResponse {
        let user = call.parameters.accessId
        let kind = call.parameters.kind ?? .member
        guard kind != .temporary else {
            throw IoTError(
                .invalidRequest, "user.create: 'kind' is member or administrator; see user.createTemporary")
        }
        try addUser(user, kind: kind, at: call.time)
        return UserResponse(accessId: user.rawValue, kind: kind)
    }

    /// Creates an account for one device and a limited time, with an enrolment for its user.
    mutating func createTemporaryUser(
        _ call: HubCall<TemporaryUserCreation>
    ) throws(IoTError) -> TemporaryUserResponse {
        let (permit, time) = (call.permit, call.time)
        let device = try permit.target()
        let actions = call.parameters.actions ?? .view
        let lifetime = call.parameters.ttlSeconds
        let others = state.bindings.users(of: device).keys.count { state.users[$0]?.kind == .temporary }
        guard others < Self.temporaryAccountsOfDevice else {
            throw IoTError(.tooManyRequests, "the device has \(others) temporary accounts: remove some")
        }
        guard let user = AccessID(rawValue: "temporary-" + Hex.random(byteCount: 4)), state.users[user] == nil else {
            throw IoTError(.internalFailure, "no name was found: try again")
        }
        let parent = try parentToken(call.parameters.within, permit)
        let expires = min(time.seconds + lifetime, parent?.expires ?? .max)
        // First, because it is the only one of these steps that may fail.
        let enrolment =
            identity.address == nil
            ? nil
            : try enrol(
                user: user, devices: [], lifetime: min(lifetime, Lifetimes.enrolments.upperBound), by: permit.actor,
                parent: parent, at: time)
        let record = UserRecord(
            kind: .temporary, device: device, expires: expires, created: time.wall,
            oneCall: call.parameters.oneCall == true ? .expected : nil)
        state.users[user] = record
        turn.changes.append(.putUser(user, record))
        setBinding(user, device, .guest, actions, at: time)
        updateAccountExpiry()
        return TemporaryUserResponse(accessId: user.rawValue, expires: expires, enrolment: enrolment?.enrolment)
    }

    mutating func removeUser(
        _ user: AccessID, _ permit: HubPermit, at time: HubTime
    ) throws(IoTError) {
        guard Principal.user(user) != permit.actor, Principal.user(user) != permit.requester.address.principal else {
            throw IoTError(
                .forbidden, "an account cannot remove itself",
                remedy: "let another administrator remove it")
        }
        guard let record = state.users[user] else { throw noUser(user) }
        try checkIsNotOwn(user)
        let others = state.users.contains { $0.key != user && $0.value.kind == .administrator }
        guard record.kind != .administrator || others else {
            throw IoTError(
                .forbidden, "'\(user)' is the last administrator",
                remedy: "make another first: `iotctl user create NAME --administrator`")
        }
        removeUser(user, bindingsEnd: .removed, at: time)
    }

    // MARK: Requests and the daemon's own calls

    mutating func addUser(_ user: AccessID, kind: AccountKind = .member, at time: HubTime) throws(IoTError) {
        guard state.users[user] == nil else {
            throw IoTError(.nameTaken, "there is an account '\(user)' already")
        }
        try checkRoomForUser()
        let record = UserRecord(kind: kind, created: time.wall)
        state.users[user] = record
        turn.changes.append(.putUser(user, record))
    }

    /// Ensures that the daemon's own account exists and is an administrator.
    mutating func ensureAdministrator(_ user: AccessID, at time: HubTime) throws(IoTError) {
        guard var record = state.users[user] else { return try addUser(user, kind: .administrator, at: time) }
        guard record.kind != .administrator else { return }
        record.kind = .administrator
        record.device = nil
        record.expires = nil
        state.users[user] = record
        turn.changes.append(.putUser(user, record))
        updateAccountExpiry()
    }

    func checkIsNotOwn(_ user: AccessID) throws(IoTError) {
        guard user == identity.ownAccount else { return }
        throw IoTError(.forbidden, "'\(user)' is this daemon's own account", remedy: "remove another, or none")
    }

    /// Removes an account with its session, tokens, enrolments, bindings and calls.
    mutating func removeUser(_ user: AccessID, bindingsEnd reason: UnbindReason, at time: HubTime) {
        for device in state.bindings.devices(of: user) {
            endBinding(user, device, reason, at: time)
            // Another account may later get the same name.
            if reason != .expired { endShares(of: device, at: time) }
        }
        kick(.user(user), .removed, at: time)
        removeTokens(of: .user(user)) { _ in true }
        removeKeys(of: .user(user))
        removeEnrolments { $0.user == user || $0.creator == .user(user) }
        forget(.user(user))
        state.users[user] = nil
        turn.changes.append(.removeUser(user))
        updateAccountExpiry()
    }

    /// Removes the temporary accounts and enrolments that have expired.
    mutating func expireAccounts(at time: HubTime) {
        for (id, entry) in exchanged where entry.until <= time.wall { forgetExchanged(id) }
        guard let nextAccountExpiry, nextAccountExpiry <= time.seconds else { return }
        let users = state.users.filter { ($0.value.expires ?? .max) <= time.seconds }.map(\.key)
        for user in users { removeUser(user, bindingsEnd: .expired, at: time) }
        removeEnrolments { $0.expires <= time.seconds }
        updateAccountExpiry()
    }

    mutating func updateAccountExpiry() {
        let accounts = state.users.values.lazy.compactMap(\.expires).min()
        let enrolments = state.enrolments.values.lazy.map(\.expires).min()
        nextAccountExpiry = [accounts, enrolments].compactMap { $0 }.min()
    }

    func noUser(_ user: AccessID) -> IoTError {
        IoTError(.targetNotFound, "there is no account '\(user)'", remedy: Principal.Kind.user.listing)
    }

    /// A page of the lines with these names, sorted by name.
    func page<Line: LinkListed>(
        _ names: [String], _ query: PageQuery, _ line: (String) -> Line?
    ) -> LinkPage<Line> {
        let limit = Int(query.limit ?? PageQuery.limits.upperBound)
        let rest = names.filter { $0 > query.after ?? "" }.sorted()
        return LinkPage(rest.prefix(limit).compactMap(line), hasMore: rest.count > limit)
    }
}
