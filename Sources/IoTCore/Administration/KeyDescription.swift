/// One media key. The key itself is returned only once, when it is created.
public struct KeyDescription: Codable, Hashable, Sendable {
    public var id: String
    public var name: String
    /// The account that gives the key its rights.
    public var account: String
    /// The devices that the key is limited to; `nil`: all devices of the account.
    public var devices: [String]?
    /// A subset of `view`, `talk` and `playback`.
    public var actions: [DeviceAction]
    /// Seconds since 1970, like `expires`.
    public var issued: Int64
    public var expires: Int64
    /// Seconds since 1970, updated at most once a minute; `nil` if the key was never used.
    public var lastUse: Int64?
    /// The id of the API token that created the key. The key becomes invalid when that token expires or is revoked.
    public var parent: String?

    public init(
        id: String, name: String, account: String, devices: [String]? = nil, actions: [DeviceAction], issued: Int64,
        expires: Int64, lastUse: Int64? = nil, parent: String? = nil
    ) {
        self.id = id
        self.name = name
        self.account = account
        self.devices = devices
        self.actions = actions
        self.issued = issued
        self.expires = expires
        self.lastUse = lastUse
        self.parent = parent
    }
}

/// The key that was created. The key itself is returned only here.
public struct KeyResponse: Codable, Hashable, Sendable {
    public var id: String
    public var name: String
    public var key: String
    /// Seconds since 1970.
    public var expires: Int64

    public init(id: String, name: String, key: String, expires: Int64) {
        self.id = id
        self.name = name
        self.key = key
        self.expires = expires
    }
}
