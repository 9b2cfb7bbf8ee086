public import IoTCore

/// `device.bound`: the account's new role and actions for a device.
public struct BoundNotice: LinkValue, Hashable {
    public var device: DeviceID
    public var name: String?
    public var role: String?
    /// `nil` from an earlier hub, which has only roles.
    public var actions: [DeviceAction]?

    public init(device: DeviceID, name: String, role: BindingRole, actions: BindingActions) {
        self.device = device
        self.name = name
        self.role = role.rawValue
        self.actions = actions.list
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.deviceID("device")
        name = try members.optionalText("name")
        role = try members.optionalText("role")
        actions = try members.knownActions("actions")
    }

    public var json: JSONValue {
        .members([
            "device": .string(device.rawValue), "name": .text(name), "role": .text(role),
            "actions": actions.map { BindingActions($0).json },
        ])
    }
}

/// `device.unbound`: the account is no longer bound to the device.
public struct UnboundNotice: LinkValue, Hashable {
    public var device: DeviceID
    /// `unbound`, `removed`, `forced` or `expired`.
    public var reason: String?

    public init(device: DeviceID, reason: String) {
        self.device = device
        self.reason = reason
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.deviceID("device")
        reason = try members.optionalText("reason")
    }

    public var json: JSONValue { .members(["device": .string(device.rawValue), "reason": .text(reason)]) }
}

/// `device.owned`: the device has another owner.
public struct OwnedNotice: LinkValue, Hashable {
    /// The owner's number: 1 for the device's first owner, more for each later one.
    public var ownership: Int64

    public init(ownership: Int64) {
        self.ownership = ownership
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        ownership = try members.integer("ownership")
    }

    public var json: JSONValue { ["ownership": .integer(ownership)] }
}
