public import IoTCore

/// Whether the gateway is connected to its hub, and if not, why.
public struct LinkState: Codable, Hashable, Sendable {
    /// −1 unregistering, 0 registering, 1 online, 2 offline, 3 tokenFailed, 6 kickOff.
    public var status: Int
    public var name: String
    /// The cause in one word: a name of `LinkStatusChange.Cause` in IoTLink.
    public var cause: String
    /// The failure that caused this status; `nil` if there is none.
    public var reason: APIError?
    /// When this status began: ms since 1970.
    public var since: Int64
    public var accessId: String
    /// The hub's address: `unix:PATH`, `HOST:PORT` on this machine, or `tls:HOST:PORT`; `nil` from an older daemon.
    public var endpoint: String?

    public init(
        _ status: LinkStatus, cause: String, reason: IoTError?, since: Int64, accessId: String, endpoint: String? = nil
    ) {
        self.status = status.rawValue
        self.name = status.name
        self.cause = cause
        self.reason = reason.map(APIError.init)
        self.since = since
        self.accessId = accessId
        self.endpoint = endpoint
    }
}
