public import IoTCore

/// `POST /v1/devices/{device}/share`
public struct ShareRequest: APIRequestBody, Hashable {
    public static let members = ["actions", "ttlSeconds"]

    /// What its taker may do; `view` alone unless told.
    public var actions: [DeviceAction]?
    /// 1 s to a week; 600 unless told.
    public var ttlSeconds: Int64?

    public init(actions: [DeviceAction]? = nil, ttlSeconds: Int64? = nil) {
        self.actions = actions
        self.ttlSeconds = ttlSeconds
    }
}

/// `POST /v1/subscriptions`; answered with a `BindingResponse`.
public struct SubscriptionRequest: APIRequestBody, Hashable {
    public static let members = ["token"]

    public var token: String

    public init(token: String) {
        self.token = token
    }
}
