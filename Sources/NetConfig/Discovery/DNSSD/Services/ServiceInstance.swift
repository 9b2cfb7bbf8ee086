public import IoTCore

/// A found service, and its address.
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

/// A change on the network.
public enum ServiceEvent: Hashable, Sendable {
    /// A service was found, or its values changed.
    case found(ServiceInstance)
    case lost(ServiceKey)
}
