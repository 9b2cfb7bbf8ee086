public import IoTCore

/// A service that was found, and where it is.
public struct ServiceInstance: Hashable, Sendable {
    public var key: ServiceKey
    /// `camera.local`
    public var host: String
    public var port: Int
    public var addresses: [IPAddress]
    /// By key in lower case.
    public var text: [String: String]

    public init(key: ServiceKey, host: String, port: Int, addresses: [IPAddress], text: [String: String] = [:]) {
        self.key = key
        self.host = host
        self.port = port
        self.addresses = addresses
        self.text = text
    }
}

/// What changed on the network.
public enum ServiceEvent: Hashable, Sendable {
    /// A service is there, or is there with other values than before.
    case found(ServiceInstance)
    case lost(ServiceKey)
}
