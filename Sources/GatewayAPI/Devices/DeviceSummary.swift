public import IoTCore

/// A device of the account.
public struct DeviceSummary: Codable, Hashable, Sendable {
    /// 32 lower-case hex digits.
    public var id: String
    public var name: String
    /// The account's role: `owner` or `guest`.
    public var role: String
    /// Whether the state is `ready`: the device is connected to the hub, and a camera's source delivers.
    public var online: Bool
    public var state: DeviceState
    /// When this state began: ms since 1970; `nil` while unknown.
    public var stateSince: Int64?
    /// Why the camera's source failed.
    public var reason: APIError?
    /// When the device last connected to the hub or disconnected: ms since 1970; `nil` if it has never connected.
    public var presenceSince: Int64?
    /// What the account may do with the device; `nil` from a hub that supports only roles.
    public var actions: [DeviceAction]?
    /// The access id of the owner; `nil` without an owner.
    public var owner: String?
    /// True for a device that is reached over the local network, because the hub is away; else `nil`.
    public var local: Bool?

    public init(
        id: String, name: String, role: String, state: DeviceState, stateSince: Int64? = nil,
        reason: IoTError? = nil, presenceSince: Int64?, actions: [DeviceAction]? = nil, owner: String? = nil
    ) {
        self.id = id
        self.name = name
        self.role = role
        online = state == .ready
        self.state = state
        self.stateSince = stateSince
        self.reason = reason.map(APIError.init)
        self.presenceSince = presenceSince
        self.actions = actions
        self.owner = owner
    }
}

/// `GET /v1/devices`
public struct DeviceList: Codable, Hashable, Sendable {
    public var devices: [DeviceSummary]
    /// The value of `after` for the next page; `nil` at the end of the list.
    public var next: String?

    public init(devices: [DeviceSummary], next: String? = nil) {
        self.devices = devices
        self.next = next
    }

    public init(_ page: Page<DeviceSummary>) {
        self.init(devices: page.elements, next: page.next)
    }
}
