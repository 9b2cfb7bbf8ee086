import IoTCore
import IoTLink

/// Sharing by a token that users pass on: its issuer need not know the account that will use it.
///
/// The token is signed and not stored. Every account of this hub may use it until it expires, its issuer may no longer
/// share the device, or somebody's rights to the device are withdrawn.
extension HubCore {
    /// `device.share`
    func shareDevice(_ call: HubCall<ShareGrant>) throws(IoTError) -> ShareResponse {
        let (permit, time) = (call.permit, call.time)
        let actions = call.parameters.actions ?? .view
        let lifetime = call.parameters.ttlSeconds ?? 600
        let device = try permit.target()
        let parent = try parentToken(call.parameters.within, permit)
        // The time of issue is later than the last withdrawal, even within the same second.
        let issued = max(time.seconds, (state.devices[device]?.sharesEnded ?? 0) + 1)
        let claims = SubscriptionTokenClaims(
            sub: Principal.device(device).description, from: permit.actor.description, actions: actions.names,
            jti: RequestID.random(), iat: issued, exp: min(time.seconds + lifetime, parent?.expires ?? .max))
        return ShareResponse(token: try authority.sign(claims), actions: actions.list, expires: claims.exp)
    }

    /// `device.subscribe`: binds the account, or adds the token's actions to those that it has.
    ///
    /// - Throws: 21100 if it is not a share token; 21101 if it has expired, or its issuer may no longer share the
    ///   device; 8022 if the account already has all its actions; 8024 for a temporary account of another device.
    mutating func subscribe(_ call: HubCall<TokenText>) throws(IoTError) -> BindingResponse {
        let (permit, time) = (call.permit, call.time)
        if let claims = authority.verify(call.parameters.token, as: AccessTokenClaims.self) {
            return try subscribe(with: claims, permit, at: time)
        }
        guard let claims = authority.verify(call.parameters.token, as: SubscriptionTokenClaims.self),
            let device = Principal(claims.sub)?.deviceID, let giver = Principal(claims.from)?.accessID
        else {
            throw IoTError(
                .provisioningTokenFailed, "this is not a share token of this hub",
                remedy: "copy the whole line that `iotctl device share` printed")
        }
        guard claims.exp > time.seconds, let record = state.devices[device], claims.iat > record.sharesEnded,
            mayShare(giver, device)
        else {
            throw IoTError(
                .provisioningTokenExpired,
                "this token has expired, or its issuer may no longer share the device, or somebody's rights to "
                    + "the device were withdrawn after it was issued",
                remedy: "ask the device's owner for a new one")
        }
        let user = try permit.account()
        let old = state.bindings[device, user]
        let given = claims.actions.compactMap(BindingActions.init(name:)).reduce(old?.actions ?? []) { $0.union($1) }
        guard old?.role != .owner, given != old?.actions else {
            throw IoTError(.alreadyBound, "'\(user)' already has all actions of this token")
        }
        try bind(user, device, .guest, given, at: time)
        return BindingResponse(
            device: device.rawValue, user: user.rawValue, role: .guest, actions: given.list)
    }

    // MARK: With the token of a binding

    /// The lifetime of the token in a binding's result: a day, in seconds.
    static let accessTokenLife: Int64 = 86_400

    func accessToken(
        of user: AccessID, _ device: DeviceID, _ binding: Binding, at time: HubTime
    ) throws(IoTError) -> String {
        try authority.sign(
            AccessTokenClaims(
                sub: Principal.device(device).description, to: Principal.user(user).description, since: binding.since,
                iat: time.seconds, exp: time.seconds + Self.accessTokenLife))
    }

    /// An access token changes nothing, because its account is bound already. Throws if the binding has ended.
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
                .provisioningTokenExpired, "this token has expired, or its binding has ended",
                remedy: "bind the device again")
        }
        return BindingResponse(
            device: device.rawValue, user: user.rawValue, role: binding.role, actions: binding.actions.list)
    }

    /// Invalidates all share tokens of a device, because somebody's rights to it were withdrawn. An earlier
    /// token must not bring them back, neither for that account nor for another one that it was passed on to. Users who
    /// still need access ask for a new one.
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
