public import IoTCore

/// The hub in this daemon.
public struct HubState: Codable, Hashable, Sendable {
    public var enabled: Bool
    public var ready: Bool
    /// Where principals reach it: a socket path, or `host:port`; `nil` when it is not enabled.
    public var endpoint: String?
    /// Devices that it knows, and how many of them are online; `nil` when it is not enabled.
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
    /// Process id; `nil` while it does not run.
    public var process: Int?
    /// How often it was started again since the daemon's start.
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
