/// The part that an account has in a device.
public enum BindingRole: String, Codable, Hashable, Sendable, CaseIterable {
    /// Everything, sharing and removing included. A device has one owner at most.
    case owner
    /// The actions that it was given.
    case guest
}
