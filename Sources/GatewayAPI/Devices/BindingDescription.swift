public import IoTCore

/// One account bound to a device.
public struct BindingDescription: Codable, Hashable, Sendable {
    public var accessId: String
    public var role: BindingRole
    public var actions: [DeviceAction]
    /// Since when: ms since 1970; `nil` when the hub does not know.
    public var since: Int64?

    public init(accessId: String, role: BindingRole, actions: [DeviceAction], since: Int64? = nil) {
        self.accessId = accessId
        self.role = role
        self.actions = actions
        self.since = since
    }
}

/// `GET /v1/devices/{device}/bindings`
public struct BindingList: Codable, Hashable, Sendable {
    public var bindings: [BindingDescription]
    /// What `after` must say for the next page; `nil` at the list's end.
    public var next: String?

    public init(bindings: [BindingDescription], next: String? = nil) {
        self.bindings = bindings
        self.next = next
    }

    public init(_ page: Page<BindingDescription>) {
        self.init(bindings: page.elements, next: page.next)
    }
}

/// `PUT /v1/devices/{device}/bindings/{user}`
public struct BindingRequest: APIRequestBody, Hashable {
    public static let members = ["role", "actions", "force"]

    /// `guest` unless told.
    public var role: BindingRole?
    /// A guest's; `view` alone unless told. An owner has all.
    public var actions: [DeviceAction]?
    /// Takes the device from another owner (8023 without).
    public var force: Bool?

    public init(role: BindingRole? = nil, actions: [DeviceAction]? = nil, force: Bool? = nil) {
        self.role = role
        self.actions = actions
        self.force = force
    }
}

/// The binding as it now is.
public struct BindingResponse: Codable, Hashable, Sendable {
    /// The device's id.
    public var device: String
    public var user: String
    public var role: BindingRole
    public var actions: [DeviceAction]

    public init(device: String, user: String, role: BindingRole, actions: [DeviceAction]) {
        self.device = device
        self.user = user
        self.role = role
        self.actions = actions
    }
}
