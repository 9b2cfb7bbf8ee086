public import IoTCore
public import IoTLink

/// One line of `device.list`.
public struct DeviceSummary: LinkListed, Hashable {
    public static var listName: String { "devices" }
    public static var placeName: String { "name" }
    public var place: String { name }

    public var id: DeviceID
    public var name: String
    /// The account's role; `nil` when it is not bound to the device.
    public var role: BindingRole?
    /// The actions that the account may take; `nil` from an earlier hub, which has only roles.
    public var actions: [DeviceAction]?
    public var owner: AccessID?
    /// Which owner of the device this is: 1 for the first, more for each later one; `nil` from an earlier hub.
    public var ownership: Int64?
    /// Whether it is connected to the hub.
    public var isOnline: Bool
    /// When it came online or went offline, in ms since 1970 on the hub's clock; `nil` when it was never online.
    public var presenceSince: Int64?
    /// The source of a camera.
    public var source: SourceSummary?
    /// Whether it is reached over the local network, because the hub is away. The hub never says this.
    public var isLocal = false

    public init(
        id: DeviceID, name: String, role: BindingRole?, actions: [DeviceAction]?, owner: AccessID?,
        ownership: Int64? = nil, isOnline: Bool, presenceSince: Int64?, source: SourceSummary?
    ) {
        self.id = id
        self.name = name
        self.role = role
        self.actions = actions
        self.owner = owner
        self.ownership = ownership
        self.isOnline = isOnline
        self.presenceSince = presenceSince
        self.source = source
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        id = try members.deviceID("id")
        name = try members.optionalText("name") ?? id.rawValue
        role = try members.optionalText("role").flatMap(BindingRole.init)
        actions = try members.knownActions("actions")
        owner = try members.optionalAccessID("owner")
        ownership = try members.optionalInteger("ownership")
        isOnline = try members.flag("online")
        presenceSince = try members.optionalInteger("presenceSince")
        source = try members.optional("source", as: SourceSummary.self)
        isLocal = try members.flag("local")
    }

    public var json: JSONValue {
        .members([
            "id": .string(id.rawValue), "name": .string(name), "role": .text(role?.rawValue) ?? .null,
            "actions": actions.map { BindingActions($0).json }, "owner": .text(owner?.rawValue) ?? .null,
            "ownership": .whole(ownership), "online": .bool(isOnline), "presenceSince": .whole(presenceSince) ?? .null,
            "source": source?.json, "local": isLocal ? true : nil,
        ])
    }
}

/// The state of a camera's source, as the camera reports it.
public struct SourceSummary: LinkValue, Hashable {
    /// `connecting`, `ready`, `failed` or `off`.
    public var state: String
    /// s since 1970.
    public var since: Int64?
    /// The error code, when it failed.
    public var code: Int64?

    public init(state: String, since: Int64?, code: Int64? = nil) {
        self.state = state
        self.since = since
        self.code = code
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        state = try members.text("state")
        since = try members.optionalInteger("since")
        code = try members.optionalInteger("code")
    }

    public var json: JSONValue {
        .members(["state": .string(state), "since": .whole(since) ?? .null, "code": .whole(code)])
    }
}
