public import IoTCore

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
