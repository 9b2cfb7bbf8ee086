/// What became of an attempt to join a network.
public enum WiFiOutcome: Sendable, Hashable {
    case connected(WiFiConnection)
    case wrongPassword
    case networkNotFound
    /// With a reason that holds no secret.
    case failed(String)
}

/// A network that was joined.
public struct WiFiConnection: Sendable, Hashable {
    /// The device's IPv4 address there; empty when it has none yet.
    public var address: String
    public var ssid: [UInt8]
    /// Six bytes, or none when it is not known.
    public var bssid: [UInt8]
    public var channel: Int
    public var authentication: WiFiNetwork.Authentication?

    public init(
        address: String = "", ssid: [UInt8], bssid: [UInt8] = [], channel: Int = 0,
        authentication: WiFiNetwork.Authentication? = nil
    ) {
        self.address = address
        self.ssid = ssid
        self.bssid = bssid
        self.channel = channel
        self.authentication = authentication
    }
}

/// How a device's Wi-Fi is set: NetworkManager, wpa_supplicant, or nothing at all.
public protocol WiFiApplier: Sendable {
    /// The networks in reach, the strongest first; none when it cannot be found out.
    func scan() async -> [WiFiNetwork]

    /// Joins the network and keeps it. A cancelled attempt is given up.
    func apply(_ credentials: WiFiCredentials) async -> WiFiOutcome
}

/// Joins nothing: answers what it is told. For tests, and for a device that is already in its network by wire.
public struct DryRunApplier: WiFiApplier {
    private let networks: [WiFiNetwork]
    private let outcome: @Sendable (WiFiCredentials) -> WiFiOutcome

    /// - Parameter outcome: without it, every network is joined.
    public init(
        networks: [WiFiNetwork] = [],
        outcome: @escaping @Sendable (WiFiCredentials) -> WiFiOutcome = {
            .connected(WiFiConnection(ssid: Array($0.ssid.utf8)))
        }
    ) {
        self.networks = networks
        self.outcome = outcome
    }

    public func scan() async -> [WiFiNetwork] { networks }

    public func apply(_ credentials: WiFiCredentials) async -> WiFiOutcome { outcome(credentials) }
}
