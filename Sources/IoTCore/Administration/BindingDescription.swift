/// One account that is bound to a device.
public struct BindingDescription: Codable, Hashable, Sendable {
    public var accessId: String
    public var role: BindingRole
    public var actions: [DeviceAction]
    /// When the account was bound, in ms since 1970; `nil` if the hub does not know.
    public var since: Int64?

    public init(accessId: String, role: BindingRole, actions: [DeviceAction], since: Int64? = nil) {
        self.accessId = accessId
        self.role = role
        self.actions = actions
        self.since = since
    }
}

/// The binding after the change.
public struct BindingResponse: Codable, Hashable, Sendable {
    /// The device's id.
    public var device: String
    public var user: String
    public var role: BindingRole
    public var actions: [DeviceAction]
    /// A token with which this account, and no other, can subscribe to the device. It grants nothing beyond the
    /// binding. `nil` from an older hub, and in the answer to `device.subscribe`.
    public var accessToken: String?

    public init(
        device: String, user: String, role: BindingRole, actions: [DeviceAction], accessToken: String? = nil
    ) {
        self.device = device
        self.user = user
        self.role = role
        self.actions = actions
        self.accessToken = accessToken
    }
}

/// A share token. The holder of any account can use it to bind that account to the device.
public struct ShareResponse: Codable, Hashable, Sendable {
    public var token: String
    public var actions: [DeviceAction]
    /// Seconds since 1970.
    public var expires: Int64

    public init(token: String, actions: [DeviceAction], expires: Int64) {
        self.token = token
        self.actions = actions
        self.expires = expires
    }
}
