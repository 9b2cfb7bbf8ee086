public import IoTCore

/// The parameters of `device.bind`.
public struct BindingGrant: LinkValue, Hashable {
    public var device: String
    public var user: AccessID
    /// `guest` when absent.
    public var role: BindingRole?
    /// A guest's actions; only `view` when absent. An owner has all actions.
    public var actions: BindingActions?
    /// Whether to take the device from another owner.
    public var force: Bool?

    public init(
        device: String, user: AccessID, role: BindingRole? = nil, actions: BindingActions? = nil, force: Bool? = nil
    ) {
        self.device = device
        self.user = user
        self.role = role
        self.actions = actions
        self.force = force
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
        user = try members.accessID("user")
        role = try members.optionalWord("role", of: BindingRole.self)
        actions = try members.optionalActions("actions")
        force = try members.optionalFlag("force")
    }

    public var json: JSONValue {
        .members([
            "device": .string(device), "user": .string(user.rawValue), "role": .text(role?.rawValue),
            "actions": actions?.json, "force": .flag(force),
        ])
    }
}

/// The parameters of `device.unbind`.
public struct BindingReference: LinkValue, Hashable {
    public var device: String
    /// The caller itself when absent.
    public var user: AccessID?

    public init(device: String, user: AccessID? = nil) {
        self.device = device
        self.user = user
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
        user = try members.optionalAccessID("user")
    }

    public var json: JSONValue { .members(["device": .string(device), "user": .text(user?.rawValue)]) }
}

/// The parameters of `device.share`.
public struct ShareGrant: LinkValue, Hashable {
    public var device: String
    /// Only `view` when absent.
    public var actions: BindingActions?
    /// 600 when absent.
    public var ttlSeconds: Int64?
    /// The API token of the request that a gateway received.
    public var within: String?

    public init(device: String, actions: BindingActions? = nil, ttlSeconds: Int64? = nil, within: String? = nil) {
        self.device = device
        self.actions = actions
        self.ttlSeconds = ttlSeconds
        self.within = within
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
        actions = try members.optionalActions("actions")
        ttlSeconds = try members.optionalLifetime("ttlSeconds", Lifetimes.subscriptions)
        within = try members.optionalText("within")
    }

    public var json: JSONValue {
        .members([
            "device": .string(device), "actions": actions?.json, "ttlSeconds": .whole(ttlSeconds),
            "within": .text(within),
        ])
    }
}
