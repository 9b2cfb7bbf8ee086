public import IoTCore

/// `POST /v1/users`
public struct UserRequest: APIRequestBody, Hashable {
    public static let members = ["accessId", "kind"]

    /// `[a-z0-9_-]{1,64}`
    public var accessId: String
    /// `member` unless told; `temporary` is refused here.
    public var kind: AccountKind?

    public init(accessId: String, kind: AccountKind? = nil) {
        self.accessId = accessId
        self.kind = kind
    }
}

/// The account that was made.
public struct UserResponse: Codable, Hashable, Sendable {
    public var accessId: String
    public var kind: AccountKind

    public init(accessId: String, kind: AccountKind) {
        self.accessId = accessId
        self.kind = kind
    }
}

/// `POST /v1/users/temporary`: an account for one device, which goes by itself.
public struct TemporaryUserRequest: APIRequestBody, Hashable {
    public static let members = ["device", "actions", "ttlSeconds"]
    /// One minute to a week.
    public static let lifetimes: ClosedRange<Int64> = 60...604_800

    /// A device's id or name.
    public var device: String
    /// `view` alone unless told.
    public var actions: [DeviceAction]?
    public var ttlSeconds: Int64

    public init(device: String, actions: [DeviceAction]? = nil, ttlSeconds: Int64) {
        self.device = device
        self.actions = actions
        self.ttlSeconds = ttlSeconds
    }
}

public struct TemporaryUserResponse: Codable, Hashable, Sendable {
    public var accessId: String
    /// Seconds since 1970.
    public var expires: Int64
    /// With it the account's user joins; told this once.
    public var enrolment: String?

    public init(accessId: String, expires: Int64, enrolment: String? = nil) {
        self.accessId = accessId
        self.expires = expires
        self.enrolment = enrolment
    }
}
