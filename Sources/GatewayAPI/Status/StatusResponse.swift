/// `GET /v1/status`
public struct StatusResponse: Codable, Hashable, Sendable {
    public var version: String
    /// Whole seconds since the daemon was started.
    public var uptime: Int
    public var link: LinkState
    public var hub: HubState
    /// The broker of the hub's own; `nil` when the hub is not enabled.
    public var broker: BrokerState?
    /// Configured cameras.
    public var cameras: Int
    /// How many of them are online at their hub; `nil` from a daemon that does not count them.
    public var camerasOnline: Int?
    /// Open channels of local users.
    public var channels: Int
    /// Browsers' calls of the account; `nil` from a daemon that does not count them.
    public var calls: Int?
    /// What all accounts share, by its name, for an administrator.
    public var shared: [String: SharedUse]?

    public init(
        version: String = ProductVersion.current, uptime: Int, link: LinkState, hub: HubState, broker: BrokerState?,
        cameras: Int, camerasOnline: Int? = nil, channels: Int, calls: Int? = nil, shared: [String: SharedUse]? = nil
    ) {
        self.version = version
        self.uptime = uptime
        self.link = link
        self.hub = hub
        self.broker = broker
        self.cameras = cameras
        self.camerasOnline = camerasOnline
        self.channels = channels
        self.calls = calls
        self.shared = shared
    }
}
