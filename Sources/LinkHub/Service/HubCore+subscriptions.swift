import IoTCore
import IoTLink

/// Sharing by a token that is handed on: its giver need not know the account that will use it.
///
/// The token is signed and not stored. It is good for every account of this hub until its time is over, and no longer
/// than its giver may share the device, or than until somebody's rights to it are withdrawn.
extension HubCore {
    /// `device.share`
    func shareDevice(_ call: HubCall<ShareGrant>) throws(IoTError) -> ShareResponse {
        let (permit, time) = (call.permit, call.time)
        let actions = call.parameters.actions ?? .view
        let lifetime = call.parameters.ttlSeconds ?? 600
        let device = try permit.target()
        let parent = try parentToken(call.parameters.within, permit)
        // Later than what ended the tokens before it, be it in the same second.
        let issued = max(time.seconds, (state.devices[device]?.sharesEnded ?? 0) + 1)
        let claims = SubscriptionTokenClaims(
            sub: Principal.device(device).description, from: permit.actor.description, actions: actions.names,
            jti: RequestID.random(), iat: issued, exp: min(time.seconds + lifetime, parent?.expires ?? .max))
        return ShareResponse(token: try authority.sign(claims), actions: actions.list, expires: claims.exp)
    }

    /// `device.subscribe`: binds the account, or gives it the token's actions beside those that it has.
    ///
    /// - Throws: 21100 for what is no such token; 21101 when its time is over, or who gave it may not share the device
    ///   any more; 8022 when the account has all of it; 8024 for another device's temporary account.
    mutating func subscribe(_ call: HubCall<TokenText>) throws(IoTError) -> BindingResponse {
        let (permit, time) = (call.permit, call.time)
        if let claims = authority.verify(call.parameters.token, as: AccessTokenClaims.self) {
            return try subscribe(with: claims, permit, at: time)
        }
        guard let claims = authority.verify(call.parameters.token, as: SubscriptionTokenClaims.self),
            let device = Principal(claims.sub)?.deviceID, let giver = Principal(claims.from)?.accessID
        else {
            throw IoTError(
                .provisioningTokenFailed, "this is no subscription token of this hub",
                remedy: "copy the whole line that `iotctl device share` printed")
        }
        guard claims.exp > time.seconds, let record = state.devices[device], claims.iat > record.sharesEnded,
            mayShare(giver, device)
        else {
            throw IoTError(
                .provisioningTokenExpired,
                "this token's time is over, or who gave it may not share the device any more, or somebody's rights to "
                    + "the device were withdrawn after it was given",
                remedy: "ask the device's owner for a new one")
        }
        let user = try permit.account()
        let old = state.bindings[device, user]
        let given = claims.actions.compactMap(BindingActions.init(name:)).reduce(old?.actions ?? []) { $0.union($1) }
        guard old?.role != .owner, given != old?.actions else {
            throw IoTError(.alreadyBound, "'\(user)' has all that this token gives")
        }
        try bind(user, device, .guest, given, at: time)
        return BindingResponse(
            device: device.rawValue, user: user.rawValue, role: .guest, actions: given.list)
    }

    // MARK: With the token of a binding

    /// How long the token of a binding's result is good for: a day, in seconds.
    static let accessTokenLife: Int64 = 86_400

    func accessToken(
        of user: AccessID, _ device: DeviceID, _ binding: Binding, at time: HubTime
    ) throws(IoTError) -> String {
        try authority.sign(
            AccessTokenClaims(
                sub: Principal.device(device).description, to: Principal.user(user).description, since: binding.since,
                iat: time.seconds, exp: time.seconds + Self.accessTokenLife))
    }

    /// The binding that the token came with has subscribed the account already: this only says whether it still stands.
    private func subscribe(
        with claims: AccessTokenClaims, _ permit: HubPermit, at time: HubTime
    ) throws(IoTError) -> BindingResponse {
        let user = try permit.account()
        guard Principal(claims.to) == .user(user) else {
            throw IoTError(
                .forbidden, "this token belongs to a binding of another account",
                remedy: "ask the device's owner to share it with you: `iotctl device share`")
        }
        guard claims.exp > time.seconds, let device = Principal(claims.sub)?.deviceID,
            let binding = state.bindings[device, user], binding.since == claims.since
        else {
            throw IoTError(
                .provisioningTokenExpired, "this token's time, or the binding that it came with, is over",
                remedy: "bind the device again")
        }
        return BindingResponse(
            device: device.rawValue, user: user.rawValue, role: binding.role, actions: binding.actions.list)
    }

    /// Somebody's rights to a device were withdrawn. A token that was given before must not bring them back, in the hands
    /// of that account or of another one, to which it was handed on: so all that were given end, and who still waits
    /// asks for a new one.
    mutating func endShares(of device: DeviceID, at time: HubTime) {
        guard var record = state.devices[device] else { return }
        record.sharesEnded = max(time.seconds, record.sharesEnded)
        state.devices[device] = record
        turn.changes.append(.putDevice(device, record))
    }

    private func mayShare(_ user: AccessID, _ device: DeviceID) -> Bool {
        state.bindings[device, user]?.role == .owner || isAdministrator(.user(user))
    }
}
