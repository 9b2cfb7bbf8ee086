import IoTCore

/// One account's relation to one device.
struct Binding: Sendable, Hashable {
    var role: BindingRole
    /// An owner has all actions.
    var actions: BindingActions
    /// ms since 1970.
    var since: Int64
}
