/// The actions of a client with a device.
public struct ProvisioningPlan: Sendable {
    public var credential: ProvisioningCredential
    /// If `nil`, the client only requests the networks in reach, and changes nothing.
    public var network: WiFiCredentials?
    public var bind: BindOrder?
    /// Whether to request the networks first.
    public var scans: Bool
    /// The time limit for all of it. 2 minutes.
    public var patience: Duration

    public init(
        credential: ProvisioningCredential, network: WiFiCredentials? = nil, bind: BindOrder? = nil,
        scans: Bool = true, patience: Duration = .seconds(120)
    ) {
        self.credential = credential
        self.network = network
        self.bind = bind
        self.scans = scans
        self.patience = patience
    }
}

/// A client's progress.
public enum ProvisioningProgress: Sendable, Hashable {
    /// A device answered, with this version of the protocol.
    case found(version: String, security: Int)
    /// Both sides proved that they know the secret.
    case authenticated
    case scanning
    case networks([WiFiNetwork])
    /// The device has the network's name and password.
    case configured
    /// The device has the hub's address and the token.
    case ordered(DeviceIdentity)
    /// The device is joining; some devices report the number of remaining attempts.
    case connecting(attemptsLeft: Int?)
    case connected(WiFiConnection)
    /// The device contacts the hub.
    case binding
    /// The client tries again, because of this.
    case retrying(reason: String)
}

/// The result of a success.
public struct ProvisioningOutcome: Sendable, Hashable {
    public var networks: [WiFiNetwork] = []
    /// `nil` if no network was to be joined.
    public var connection: WiFiConnection?
    /// `nil` if the device did not report its identity.
    public var device: DeviceIdentity?
    /// `.waiting` if the device left its access point before it had an answer from the hub.
    public var bind = BindState.unbound

    public init() {}
}
