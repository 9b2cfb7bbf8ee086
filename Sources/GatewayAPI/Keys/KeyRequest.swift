public import IoTCore

/// `POST /v1/keys`
public struct KeyRequest: APIRequestBody, Hashable {
    public static let members = ["name", "user", "devices", "actions", "ttlSeconds"]

    /// What it is for: 1 to 64 characters.
    public var name: String
    /// The account whose rights it passes on; the caller's own when absent.
    public var user: String?
    /// The only devices it is good for, as ids or names; all of the account's when absent.
    public var devices: [String]?
    /// `view`, `talk`, `playback`; `view` alone when absent.
    public var actions: [DeviceAction]?
    /// One second to ten years.
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
