public import IoTCore

/// Whether the gateway is connected to its hub, and why not.
public struct LinkState: Codable, Hashable, Sendable {
    /// −1 unregistering, 0 registering, 1 online, 2 offline, 3 tokenFailed, 6 kickOff.
    public var status: Int
    public var name: String
    /// Why, in one word, as `LinkStatusChange.Cause` of IoTLink names it.
    public var cause: String
    /// The failure behind it; `nil` when nothing failed.
    public var reason: APIError?
    /// When this status began: ms since 1970.
    public var since: Int64
    public var accessId: String
    /// The hub's: `unix:PATH`, `HOST:PORT` of this machine, or `tls:HOST:PORT`; `nil` from a daemon that does not tell it.
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
