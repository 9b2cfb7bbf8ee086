public import IoTCore

/// `GET /v1/status`
public struct StatusResponse: Codable, Hashable, Sendable {
    public var version: String
    /// Seconds since the daemon started.
    public var uptime: Int
    public var link: LinkState
    public var hub: HubState
    /// The hub's broker; `nil` if the hub is not enabled.
    public var broker: BrokerState?
    /// Configured cameras.
    public var cameras: Int
    /// The number of cameras that are online at their hub; `nil` from an older daemon.
    public var camerasOnline: Int?
    /// Open channels of local users.
    public var channels: Int
    /// Calls from browsers of this account; `nil` from an older daemon.
    public var calls: Int?
    /// The fingerprint of the key with which the gateway signs its calls; `nil` from an older daemon.
    public var key: KeyFingerprint?
    /// The use of shared resources by name; only for administrators.
    public var shared: [String: SharedUse]?

    public init(
        version: String = ProductVersion.current, uptime: Int, link: LinkState, hub: HubState, broker: BrokerState?,
        cameras: Int, camerasOnline: Int? = nil, channels: Int, calls: Int? = nil, key: KeyFingerprint? = nil,
        shared: [String: SharedUse]? = nil
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
        self.key = key
        self.shared = shared
    }
}
