import IoTCore
import IoTLink

/// Who may do what with which device.
extension HubCore {
    /// Why a binding ended, as its user is told.
    enum UnbindReason: String {
        case unbound
        case removed
        case forced
        case expired
    }

    // MARK: As requests

    mutating func bindDevice(
        _ parameters: LinkMembers, _ permit: HubPermit, at time: HubTime
    ) throws(IoTError) -> JSONValue {
        let device = try permit.target()
        let user = try parameters.accessID("user")
        let word = try parameters.optionalText("role") ?? BindingRole.guest.rawValue
        guard let role = BindingRole(rawValue: word) else {
            throw IoTError(.invalidRequest, "device.bind: 'role' is owner or guest")
        }
        let actions = try parameters.optionalActions("actions")
        guard role == .guest || actions == nil || actions == .all else {
            throw IoTError(.invalidRequest, "device.bind: an owner has all actions: leave 'actions' out")
        }
        let given = role == .owner ? .all : actions ?? .view
        if let old = state.bindings[device, user], old.role == role, old.actions == given {
            throw IoTError(.alreadyBound, "'\(user)' is bound to this device already, with this role and these actions")
        }
        try bind(user, device, role, given, force: try parameters.flag("force"), at: time)
        return [
            "device": .string(device.rawValue), "user": .string(user.rawValue), "role": .string(role.rawValue),
            "actions": given.json,
        ]
    }

    mutating func unbindDevice(_ permit: HubPermit, at time: HubTime) throws(IoTError) -> JSONValue {
        let user = try permit.account()
        // Who leaves by itself takes nobody's invitation away.
        try unbind(user, try permit.target(), isWithdrawn: .user(user) != permit.actor, at: time)
        return [:]
    }

    func listUsers(of device: DeviceID) -> JSONValue {
        let lines = state.bindings.users(of: device).sorted { $0.key < $1.key }.map { user, binding -> JSONValue in
            [
                "accessId": .string(user.rawValue), "role": .string(binding.role.rawValue),
                "actions": binding.actions.json, "since": .integer(binding.since),
            ]
        }
        return ["users": .array(lines)]
    }

    // MARK: As the daemon's own calls, too

    /// Gives an account a role and actions at a device, or changes them.
    ///
    /// Throws 8002 for an unknown account or device, 8023 when another account owns the device and `force` does not
    /// take it away, 8024 for another device's temporary account.
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

    /// - Parameter isWithdrawn: It is not the account itself that ends it.
    /// - Throws: 8003 when they are not bound.
    mutating func unbind(
        _ user: AccessID, _ device: DeviceID, isWithdrawn: Bool = true, at time: HubTime
    ) throws(IoTError) {
        guard state.bindings[device, user] != nil else {
            throw IoTError(
                .relationInvalid, "'\(user)' is not bound to this device",
                remedy: "list who is with `iotctl device users`")
        }
        if isWithdrawn { endShares(of: device, at: time) }
        if state.users[user]?.kind == .temporary {
            // It was for this device alone.
            removeUser(user, bindingsEnd: .unbound, at: time)
        } else {
            endBinding(user, device, .unbound, at: time)
        }
    }

    // MARK: Parts

    func checkCanOwn(_ user: AccessID) throws(IoTError) {
        guard let account = state.users[user] else { throw noUser(user) }
        guard account.kind != .temporary else {
            throw IoTError(.invalidRequest, "'\(user)' is a temporary account, which cannot own a device")
        }
    }

    /// Both exist, and the device has no other owner.
    mutating func setBinding(
        _ user: AccessID, _ device: DeviceID, _ role: BindingRole, _ actions: BindingActions, at time: HubTime
    ) {
        let since = state.bindings[device, user]?.since ?? time.wall
        let binding = Binding(role: role, actions: actions, since: since)
        state.bindings.set(user, device, binding)
        turn.changes.append(.bind(user, device, binding))
        endCalls(of: user, device, notAllowedBy: actions, at: time)
        cancelForwards(of: user, to: device, notAllowedBy: actions, at: time)
        tellBound(user, device, binding, at: time)
    }

    /// The user's calls and pushes end with it.
    mutating func endBinding(_ user: AccessID, _ device: DeviceID, _ reason: UnbindReason, at time: HubTime) {
        state.bindings.remove(user, device)
        turn.changes.append(.unbind(user, device))
        endCalls(of: user, device, notAllowedBy: [], at: time)
        cancelForwards(of: user, to: device, notAllowedBy: [], at: time)
        guard let session = sessions[.user(user)] else { return }
        push(
            DeviceMethod.unbound, ["device": .string(device.rawValue), "reason": .string(reason.rawValue)],
            to: session.address, at: time)
    }

    mutating func tellBound(_ user: AccessID, _ device: DeviceID, _ binding: Binding, at time: HubTime) {
        guard let session = sessions[.user(user)] else { return }
        push(
            DeviceMethod.bound,
            [
                "device": .string(device.rawValue), "name": .string(state.devices[device]?.name ?? ""),
                "role": .string(binding.role.rawValue), "actions": binding.actions.json,
            ], to: session.address, at: time)
    }
}
