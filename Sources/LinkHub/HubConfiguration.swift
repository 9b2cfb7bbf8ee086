/// The configuration of a hub.
public struct HubConfiguration: Sendable {
    /// An absolute path. The directory is created with mode 0700 if it does not exist.
    public var dataDirectory: String
    /// The path of the broker's program; `nil` searches for it.
    public var mosquittoPath: String?
    /// Where the broker listens: on a Unix socket in the data directory, or on a free port of 127.0.0.1.
    public var endpoint: BrokerSupervisor.EndpointChoice
    /// A second listener for other machines; `nil` for none.
    public var tls: HubTLS?
    public var limits: HubLimits
    public var brokerLimits: BrokerLimits
    /// Lifetime of the tokens that the hub makes for its own machine, in days. Default 365. A start renews them when
    /// two thirds have passed.
    public var localTokenDays: Int64 = 365

    public init(
        dataDirectory: String, mosquittoPath: String? = nil, endpoint: BrokerSupervisor.EndpointChoice = .unixSocket,
        tls: HubTLS? = nil, limits: HubLimits = HubLimits(), brokerLimits: BrokerLimits = BrokerLimits()
    ) {
        self.dataDirectory = dataDirectory
        self.mosquittoPath = mosquittoPath
        self.endpoint = endpoint
        self.tls = tls
        self.limits = limits
        self.brokerLimits = brokerLimits
    }
}
