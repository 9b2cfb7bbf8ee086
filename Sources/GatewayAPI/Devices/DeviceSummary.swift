public import IoTCore

/// One device of the account.
public struct DeviceSummary: Codable, Hashable, Sendable {
    /// 32 lower-case hex digits.
    public var id: String
    public var name: String
    /// What the account may do with it: `owner` or `guest`.
    public var role: String
    /// Whether it is `ready`: connected to the hub, and a camera's source delivers.
    public var online: Bool
    public var state: DeviceState
    /// Since when it is in this state: ms since 1970; `nil` while unknown.
    public var stateSince: Int64?
    /// Why a camera's source failed.
    public var reason: APIError?
    /// When it last connected to the hub or left it: ms since 1970; `nil` if it never came.
    public var presenceSince: Int64?
    /// What the account may do with it; `nil` from a hub that knows roles only.
    public var actions: [DeviceAction]?
    /// The access id of its owner; `nil` for none.
    public var owner: String?

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
    /// What `after` must say for the next page; `nil` at the list's end.
    public var next: String?

    public init(devices: [DeviceSummary], next: String? = nil) {
        self.devices = devices
        self.next = next
    }

    public init(_ page: Page<DeviceSummary>) {
        self.init(devices: page.elements, next: page.next)
    }
}
