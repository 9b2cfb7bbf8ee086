public import IoTCore

/// `POST /v1/users`
public struct UserRequest: APIRequestBody, Hashable {
    public static let members = ["accessId", "kind"]

    /// `[a-z0-9_-]{1,64}`
    public var accessId: String
    /// Default `member`. `temporary` is refused here.
    public var kind: AccountKind?

    public init(accessId: String, kind: AccountKind? = nil) {
        self.accessId = accessId
        self.kind = kind
    }
}

/// `POST /v1/users/temporary`: an account for one device, which expires.
public struct TemporaryUserRequest: APIRequestBody, Hashable {
    public static let members = ["device", "actions", "ttlSeconds", "oneCall"]

    /// A device's id or name.
    public var device: String
    /// Default `view`.
    public var actions: [DeviceAction]?
    public var ttlSeconds: Int64
    /// Whether the account ends with its first call. Default false.
    public var oneCall: Bool?

    public init(device: String, actions: [DeviceAction]? = nil, ttlSeconds: Int64, oneCall: Bool? = nil) {
        self.device = device
        self.actions = actions
        self.ttlSeconds = ttlSeconds
        self.oneCall = oneCall
    }
}
