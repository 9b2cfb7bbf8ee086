public import IoTCore

/// `POST /v1/keys`
public struct KeyRequest: APIRequestBody, Hashable {
    public static let members = ["name", "user", "devices", "actions", "ttlSeconds"]

    /// The key's purpose: 1 to 64 characters.
    public var name: String
    /// The account that the key acts for. Default: the caller's account.
    public var user: String?
    /// The only devices that the key may access, as ids or names. Default: all devices of the account.
    public var devices: [String]?
    /// `view`, `talk`, `playback`. Default `view`.
    public var actions: [DeviceAction]?
    /// 1 s to ten years.
    public var ttlSeconds: Int64

    public init(
        name: String, user: String? = nil, devices: [String]? = nil, actions: [DeviceAction]? = nil, ttlSeconds: Int64
    ) {
        self.name = name
        self.user = user
        self.devices = devices
        self.actions = actions
        self.ttlSeconds = ttlSeconds
    }
}
