/// The result of an attempt to join a network.
public enum WiFiOutcome: Sendable, Hashable {
    case connected(WiFiConnection)
    case wrongPassword
    case networkNotFound
    /// The reason does not contain a secret.
    case failed(String)
}

/// A joined network.
public struct WiFiConnection: Sendable, Hashable {
    /// The device's IPv4 address in the network; empty until it has one.
    public var address: String
    public var ssid: [UInt8]
    /// Six bytes, or empty if it is not known.
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

/// Sets a device's Wi-Fi: with NetworkManager, with wpa_supplicant, or not at all.
public protocol WiFiApplier: Sendable {
    /// The networks in reach, the strongest first; empty if they cannot be determined.
    func scan() async -> [WiFiNetwork]

    /// Joins the network and keeps it. A cancelled attempt is abandoned.
    func apply(_ credentials: WiFiCredentials) async -> WiFiOutcome
}

/// Joins nothing and returns a configured result. For tests, and for a device that is in its network by cable.
public struct DryRunApplier: WiFiApplier {
    private let networks: [WiFiNetwork]
    private let outcome: @Sendable (WiFiCredentials) -> WiFiOutcome

    /// - Parameter outcome: By default every network is joined.
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
