/// One device of the account.
public struct DeviceSummary: Codable, Hashable, Sendable {
    /// 32 lower-case hex digits.
    public var id: String
    public var name: String
    /// What the account may do with it: `owner` or `guest`.
    public var role: String
    public var online: Bool
    /// When it last came or went: ms since 1970; `nil` if it never came.
    public var presenceSince: Int64?

    public init(id: String, name: String, role: String, online: Bool, presenceSince: Int64?) {
        self.id = id
        self.name = name
        self.role = role
        self.online = online
        self.presenceSince = presenceSince
    }
}

/// `GET /v1/devices`
public struct DeviceList: Codable, Hashable, Sendable {
    public var devices: [DeviceSummary]

    public init(devices: [DeviceSummary]) {
        self.devices = devices
    }
}
