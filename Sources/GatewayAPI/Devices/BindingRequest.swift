public import IoTCore

/// `GET /v1/devices/{device}/bindings`
public struct BindingList: Codable, Hashable, Sendable {
    public var bindings: [BindingDescription]
    /// The value of `after` for the next page; `nil` at the end of the list.
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

    /// Default `guest`.
    public var role: BindingRole?
    /// A guest's actions. Default `view`. An owner may do everything.
    public var actions: [DeviceAction]?
    /// Takes the device from its current owner. Without `force`, this fails with 8023.
    public var force: Bool?

    public init(role: BindingRole? = nil, actions: [DeviceAction]? = nil, force: Bool? = nil) {
        self.role = role
        self.actions = actions
        self.force = force
    }
}
