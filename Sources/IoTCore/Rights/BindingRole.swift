/// The role of an account for a device.
public enum BindingRole: String, Codable, Hashable, Sendable, CaseIterable {
    /// May do everything, including sharing and removing. A device has at most one owner.
    case owner
    /// May do the actions that it was given.
    case guest
}
