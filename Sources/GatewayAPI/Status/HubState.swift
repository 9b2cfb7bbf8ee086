public import IoTCore

/// The hub in this daemon.
public struct HubState: Codable, Hashable, Sendable {
    public var enabled: Bool
    public var ready: Bool
    /// The address for clients: a socket path or `host:port`; `nil` if the hub is not enabled.
    public var endpoint: String?
    /// The number of devices, and of those that are online; `nil` if the hub is not enabled.
    public var devices: Int?
    public var devicesOnline: Int?

    public init(enabled: Bool, ready: Bool, endpoint: String?, devices: Int? = nil, devicesOnline: Int? = nil) {
        self.enabled = enabled
        self.ready = ready
        self.endpoint = endpoint
        self.devices = devices
        self.devicesOnline = devicesOnline
    }
}

/// The broker that the hub supervises.
public struct BrokerState: Codable, Hashable, Sendable {
    public enum State: String, Codable, Hashable, Sendable, CaseIterable {
        case starting
        case running
        case failed
    }

    public var state: State
    /// For example `mosquitto 2.0.11`; `nil` while unknown.
    public var version: String?
    /// Process id; `nil` while the broker is not running.
    public var process: Int?
    /// How often the broker was restarted since the daemon started.
    public var restarts: Int
    public var reason: APIError?

    public init(state: State, version: String? = nil, process: Int? = nil, restarts: Int = 0, reason: IoTError? = nil) {
        self.state = state
        self.version = version
        self.process = process
        self.restarts = restarts
        self.reason = reason.map(APIError.init)
    }
}
