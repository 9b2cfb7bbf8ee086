import IoTCore
import IoTLink

/// Bindings: which account may do what with which device.
extension HubCore {
    /// Why a binding ended, as its user is notified.
    enum UnbindReason: String {
        case unbound
        case removed
        case forced
        case expired
    }

    // MARK: Requests

    mutating func bindDevice(_ call: HubCall<BindingGrant>) throws(IoTError) -> BindingResponse {
        let device = try call.permit.target()
        let (user, role, actions) = (call.parameters.user, call.parameters.role ?? .guest, call.parameters.actions)
        guard role == .guest || actions == nil || actions == .all else {
            throw IoTError(.invalidRequest, "device.bind: an owner has all actions: leave 'actions' out")
        }
        let given = role == .owner ? .all : actions ?? .view
        if let old = state.bindings[device, user], old.role == role, old.actions == given {
            throw IoTError(.alreadyBound, "'\(user)' is bound to this device already, with this role and these actions")
        }
        try bind(user, device, role, given, force: call.parameters.force ?? false, at: call.time)
        guard let binding = state.bindings[device, user] else { throw IoTError(.internalFailure) }
        return try describe(binding, of: user, device, at: call.time)
    }

    mutating func unbindDevice(_ permit: HubPermit, at time: HubTime) throws(IoTError) {
        let user = try permit.account()
        // An account that leaves does not withdraw the invitations of others.
        try unbind(user, try permit.target(), isWithdrawn: .user(user) != permit.actor, at: time)
    }

    func listUsers(of device: DeviceID) -> BindingLines {
        BindingLines(
            users: state.bindings.users(of: device).sorted { $0.key < $1.key }.map { user, binding in
                BindingDescription(
                    accessId: user.rawValue, role: binding.role, actions: binding.actions.list, since: binding.since)
            })
    }

    /// The result of a binding, with the token for `device.subscribe`.
    func describe(
        _ binding: Binding, of user: AccessID, _ device: DeviceID, at time: HubTime
    ) throws(IoTError) -> BindingResponse {
        BindingResponse(
            device: device.rawValue, user: user.rawValue, role: binding.role, actions: binding.actions.list,
            accessToken: try accessToken(of: user, device, binding, at: time))
    }

    // MARK: Requests and the daemon's own calls

    /// Gives an account a role and actions at a device, or changes them.
    ///
    /// Throws 8002 for an unknown account or device, 8023 if another account owns the device and `force` is not set,
    /// 8024 for another device's temporary account.
    mutating func bind(
        _ user: AccessID, _ device: DeviceID, _ role: BindingRole, _ actions: BindingActions? = nil,
        force: Bool = false, at time: HubTime
    ) throws(IoTError) {
        guard let account = state.users[user] else { throw noUser(user) }
        guard state.devices[device] != nil else { throw IoTError(.targetNotFound, "there is no device \(device)") }
        if account.kind == .temporary, account.device != device {
            throw IoTError(
                .customerMismatch, "'\(user)' is a temporary account for another device",
                remedy: "make one for this device: `iotctl user temporary`")
        }
        let given = role == .owner ? .all : actions ?? .view
        guard !given.isEmpty else { throw IoTError(.invalidRequest, "a binding needs an action") }
        let old = state.bindings[device, user]
        guard old?.role != role || old?.actions != given else { return }
        try checkRoomForBinding(user, device)
        if role == .owner {
            try checkCanOwn(user)
            if let owner = state.bindings.owner(of: device), owner != user {
                guard force else {
                    throw IoTError(.boundToOther, "the device is '\(owner)'s")
                }
                endBinding(owner, device, .forced, at: time)
                endShares(of: device, at: time)
            }
        }
        if let old, !given.isSuperset(of: old.actions) { endShares(of: device, at: time) }
        setBinding(user, device, role, given, at: time)
    }

    /// - Parameter isWithdrawn: Whether someone other than the account itself ends it.
    /// - Throws: 8003 if they are not bound.
    mutating func unbind(
        _ user: AccessID, _ device: DeviceID, isWithdrawn: Bool = true, at time: HubTime
    ) throws(IoTError) {
        guard state.bindings[device, user] != nil else {
            throw IoTError(
                .relationInvalid, "'\(user)' is not bound to this device",
                remedy: "list the device's users with `iotctl device users`")
        }
        if isWithdrawn { endShares(of: device, at: time) }
        if state.users[user]?.kind == .temporary {
            // The account was for this device alone.
            removeUser(user, bindingsEnd: .unbound, at: time)
        } else {
            endBinding(user, device, .unbound, at: time)
        }
    }

    // MARK: Helpers

    func checkCanOwn(_ user: AccessID) throws(IoTError) {
        guard let account = state.users[user] else { throw noUser(user) }
        guard account.kind != .temporary else {
            throw IoTError(.invalidRequest, "'\(user)' is a temporary account, which cannot own a device")
        }
    }

    /// Both must exist, and the device must not have another owner.
    mutating func setBinding(
        _ user: AccessID, _ device: DeviceID, _ role: BindingRole, _ actions: BindingActions, at time: HubTime
    ) {
        let known = state.bindings[device, user]
        let since = known?.since ?? time.wall
        let binding = Binding(role: role, actions: actions, since: since)
        state.bindings.set(user, device, binding)
        turn.changes.append(.bind(user, device, binding))
        if role == .owner, known?.role != .owner { noteNewOwner(of: device, at: time) }
        // A device lets owners do more in their calls, so these end with the role.
        let hasLostRole = known?.role == .owner && role != .owner
        if hasLostRole || !actions.isSuperset(of: known?.actions ?? []) { endGrants(of: user, at: device, time) }
        endCalls(of: user, device, notAllowedBy: hasLostRole ? [] : actions, at: time)
        cancelForwards(of: user, to: device, notAllowedBy: actions, at: time)
        tellBound(user, device, binding, at: time)
    }

    /// The device learns that it has another owner, also if that owner has owned it before: what it recorded until now
    /// is not for the new one, and neither are its events.
    private mutating func noteNewOwner(of device: DeviceID, at time: HubTime) {
        guard var record = state.devices[device] else { return }
        if record.owners > 0 { deleteEvents(of: device) }
        record.owners += 1
        state.devices[device] = record
        turn.changes.append(.putDevice(device, record))
        guard let session = sessions[.device(device)] else { return }
        push(DeviceMethod.owned, OwnedNotice(ownership: record.owners), to: session.address, at: time)
    }

    /// Also ends the user's calls and pushes.
    ///
    /// - Parameter deviceStays: whether others are bound to the device still.
    mutating func endBinding(
        _ user: AccessID, _ device: DeviceID, _ reason: UnbindReason, deviceStays: Bool = true, at time: HubTime
    ) {
        state.bindings.remove(user, device)
        turn.changes.append(.unbind(user, device))
        // The grant of an account that has expired has expired with it.
        if reason != .expired, deviceStays { endGrants(of: user, at: device, time) }
        endCalls(of: user, device, notAllowedBy: [], at: time)
        cancelForwards(of: user, to: device, notAllowedBy: [], at: time)
        guard let session = sessions[.user(user)] else { return }
        push(
            DeviceMethod.unbound, UnboundNotice(device: device, reason: reason.rawValue),
            to: session.address, at: time)
    }

    mutating func tellBound(_ user: AccessID, _ device: DeviceID, _ binding: Binding, at time: HubTime) {
        guard let session = sessions[.user(user)] else { return }
        push(
            DeviceMethod.bound,
            BoundNotice(
                device: device, name: state.devices[device]?.name ?? "", role: binding.role, actions: binding.actions),
            to: session.address, at: time)
    }
}
