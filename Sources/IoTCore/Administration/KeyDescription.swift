/// One media key; the key itself is told when it is made, and never again.
public struct KeyDescription: Codable, Hashable, Sendable {
    public var id: String
    public var name: String
    /// Whose rights it passes on.
    public var account: String
    /// The only devices that it is good for; `nil`: all of the account's.
    public var devices: [String]?
    /// Of `view`, `talk` and `playback`.
    public var actions: [DeviceAction]
    /// Seconds since 1970.
    public var issued: Int64
    public var expires: Int64
    /// Seconds since 1970, to the minute; `nil` while it was not used.
    public var lastUse: Int64?
    /// The API token that it was made with, by its id: it ends with that one.
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

/// The key that was made; it is told this once.
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
