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
