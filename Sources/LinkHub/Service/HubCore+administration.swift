import IoTCore
import IoTLink

/// What the daemon itself asks, in its own process.
extension HubCore {
    mutating func addUser(_ user: AccessID, at time: HubTime) throws(IoTError) {
        guard !state.users.contains(user) else {
            throw IoTError(.nameTaken, "there is an account '\(user)' already")
        }
        state.users.insert(user)
        turn.changes.append(.addUser(user, at: time.wall))
    }

    mutating func addDevice(named name: String) throws(IoTError) -> DeviceID {
        try checkName(name)
        let device = DeviceID.random()
        let record = DeviceRecord(name: name, presenceSince: nil)
        state.devices[device] = record
        state.names[name] = device
        turn.changes.append(.putDevice(device, record))
        return device
    }

    mutating func renameDevice(_ device: DeviceID, to name: String) throws(IoTError) {
        guard var record = state.devices[device] else { throw IoTError(.targetNotFound) }
        guard record.name != name else { return }
        try checkName(name)
        state.names[record.name] = nil
        state.names[name] = device
        record.name = name
        state.devices[device] = record
        turn.changes.append(.putDevice(device, record))
    }

    mutating func removeDevice(_ device: DeviceID, at time: HubTime) throws(IoTError) {
        guard let record = state.devices[device] else { throw IoTError(.targetNotFound) }
        removeTokens(of: .device(device)) { _ in true }
        endSession(.device(device), at: time)
        sessions.forget(.device(device))
        state.devices[device] = nil
        state.names[record.name] = nil
        state.roles[device] = nil
        state.models[device] = nil
        // The rows that the session's end has changed are gone with the device.
        turn.changes.removeAll { change in
            switch change {
            case .putDevice, .writeProperty, .modelVersion: true
            default: false
            }
        }
        turn.updates = []
        turn.changes.append(.removeDevice(device))
    }

    private func checkName(_ name: String) throws(IoTError) {
        guard DeviceName.isValid(name) else {
            throw IoTError(
                .invalidRequest,
                "'\(name)' is no device name: 1 to 64 bytes of letters, digits, '_', '-' and '.', not like an id")
        }
        guard state.names[name] == nil else { throw IoTError(.nameTaken, "there is a device '\(name)' already") }
    }

    mutating func bind(_ user: AccessID, _ device: DeviceID, _ role: BindingRole) throws(IoTError) {
        guard state.users.contains(user) else { throw IoTError(.targetNotFound, "there is no account '\(user)'") }
        guard state.devices[device] != nil else { throw IoTError(.targetNotFound, "there is no device \(device)") }
        guard state.roles[device]?[user] != role else { return }
        state.roles[device, default: [:]][user] = role
        turn.changes.append(.bind(user, device, role))
    }

    mutating func unbind(_ user: AccessID, _ device: DeviceID) throws(IoTError) {
        guard state.roles[device]?[user] != nil else { throw IoTError(.relationInvalid) }
        state.roles[device]?[user] = nil
        turn.changes.append(.unbind(user, device))
    }

    // MARK: Tokens

    /// - Parameter lifetime: Seconds.
    /// - Returns: The token, which is not kept, and its id.
    mutating func issueToken(
        _ principal: Principal, lifetime: Int64, isLocal: Bool = false, at time: HubTime
    ) throws(IoTError) -> (token: String, id: String) {
        let isKnown =
            principal.accessID.map { state.users.contains($0) } ?? principal.deviceID.map { state.devices[$0] != nil }
        guard isKnown == true else { throw IoTError(.targetNotFound, "there is no \(principal)") }
        guard (1...315_360_000).contains(lifetime) else {
            throw IoTError(.invalidRequest, "a token's life is 1 s to 10 years")
        }
        let claims = LinkTokenClaims(
            sub: principal.description, jti: RequestID.random(), iat: time.seconds, exp: time.seconds + lifetime)
        let token = try authority.sign(claims)
        let credential = BrokerCredential.make(tokenID: claims.jti, principal: principal, token: token)
        let record = TokenRecord(credential: credential, issued: claims.iat, expires: claims.exp, isLocal: isLocal)
        state.tokens[claims.jti] = record
        turn.changes.append(.addToken(record))
        turn.outputs.append(.addCredential(credential, token: token))
        updateTokenExpiry()
        return (token, claims.jti)
    }

    mutating func revokeToken(_ id: String) throws(IoTError) {
        guard state.tokens[id] != nil else { throw IoTError(.notFound, "there is no token \(id)") }
        removeToken(id)
    }

    /// Revokes those of a principal's tokens that `isOutdated` says.
    mutating func removeTokens(of principal: Principal, _ isOutdated: (TokenRecord) -> Bool) {
        let ids = state.tokens.filter { $0.value.credential.principal == principal && isOutdated($0.value) }.map(\.key)
        for id in ids { removeToken(id) }
    }

    mutating func expireTokens(at time: HubTime) {
        guard let nextTokenExpiry, nextTokenExpiry + TokenAuthority.leeway < time.seconds else { return }
        for (id, token) in state.tokens where token.expires + TokenAuthority.leeway < time.seconds {
            removeToken(id)
        }
    }

    private mutating func removeToken(_ id: String) {
        state.tokens[id] = nil
        turn.changes.append(.removeToken(id))
        turn.outputs.append(.removeCredential(tokenID: id))
        updateTokenExpiry()
    }

    mutating func updateTokenExpiry() {
        nextTokenExpiry = state.tokens.values.map(\.expires).min()
    }
}
