/// What an account may do with a device that it is bound to.
public enum DeviceAction: String, Codable, Hashable, Sendable, CaseIterable {
    /// Read the model, watch, listen, take snapshots, receive events and data.
    case view
    case talk
    case playback
    /// Take actions, send messages.
    case control
    /// Write properties and user properties, rename.
    case configure
}

/// The part an account has in a device.
public enum BindingRole: String, Codable, Hashable, Sendable, CaseIterable {
    /// All actions; shares the device with others, and removes it. A device has one at most.
    case owner
    /// The actions it was given.
    case guest
}
