/// What a hub needs to know.
public struct HubConfiguration: Sendable {
    /// An absolute path; made with mode 0700 when it is missing.
    public var dataDirectory: String
    /// The broker's program; `nil` searches for it.
    public var mosquittoPath: String?
    /// Where the broker listens: a Unix socket in the data directory, or a free port of 127.0.0.1.
    public var endpoint: BrokerSupervisor.EndpointChoice
    /// A second listener for other machines; `nil` for none.
    public var tls: HubTLS?
    public var limits: HubLimits
    public var brokerLimits: BrokerLimits
    /// Life of the tokens that the hub makes for its own machine, in days: 365. They are renewed at a start past two
    /// thirds of it.
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
