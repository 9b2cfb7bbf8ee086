/// What a client is to do with a device.
public struct ProvisioningPlan: Sendable {
    public var credential: ProvisioningCredential
    /// `nil` with `bind`: the device is in its network by wire. `nil` alone: look which networks the device hears, and
    /// change nothing.
    public var network: WiFiCredentials?
    public var bind: BindOrder?
    /// Whether to ask for the networks first.
    public var scans: Bool
    /// How long all of it may take. 2 minutes.
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

/// What a client reports while it goes on.
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
    /// The device joins; it says how often it will still try, where it does.
    case connecting(attemptsLeft: Int?)
    case connected(WiFiConnection)
    /// The device asks the hub.
    case binding
    /// It is tried again, after this.
    case retrying(reason: String)
}

/// How it ended well.
public struct ProvisioningOutcome: Sendable, Hashable {
    public var networks: [WiFiNetwork] = []
    /// `nil` when no network was to be joined.
    public var connection: WiFiConnection?
    /// `nil` from a device that has not said who it is.
    public var device: DeviceIdentity?
    /// `.waiting` when the device left its access point before it had heard of the hub.
    public var bind = BindState.unbound

    public init() {}
}
