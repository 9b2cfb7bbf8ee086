public import IoTCore

/// `POST /v1/devices/{device}/share`
public struct ShareRequest: APIRequestBody, Hashable {
    public static let members = ["actions", "ttlSeconds"]

    /// What the recipient may do. Default `view`.
    public var actions: [DeviceAction]?
    /// 1 s to one week. Default 600 s.
    public var ttlSeconds: Int64?

    public init(actions: [DeviceAction]? = nil, ttlSeconds: Int64? = nil) {
        self.actions = actions
        self.ttlSeconds = ttlSeconds
    }
}

/// `POST /v1/subscriptions`. The response is a `BindingResponse`.
public struct SubscriptionRequest: APIRequestBody, Hashable {
    public static let members = ["token"]

    public var token: String

    public init(token: String) {
        self.token = token
    }
}
