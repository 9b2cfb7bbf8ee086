/// The part that an account has in a device.
public enum BindingRole: String, Sendable, Codable, CaseIterable {
    /// Everything, sharing and removing included. A device has one owner at most.
    case owner
    /// The actions that it was given.
    case guest
}

/// One account's relation to one device.
struct Binding: Sendable, Hashable {
    var role: BindingRole
    /// All for an owner.
    var actions: BindingActions
    /// ms since 1970.
    var since: Int64
}
