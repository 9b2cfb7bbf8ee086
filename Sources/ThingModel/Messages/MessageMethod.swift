/// The link methods of pass-through messages; `docs/link.md` describes them.
public enum MessageMethod {
    /// User to hub: pass data through to a device.
    public static let send = "message.send"
    /// Hub to device: the data that a user passed through.
    public static let receive = "message.receive"
    /// Device to hub: data for the device's users.
    public static let push = "message.push"
    /// User to hub: pass data through to the hub itself, by path.
    public static let askServer = "server.request"
    /// Push to users: data that a device sent.
    public static let data = "device.data"
}

/// How many responses the sender of a message expects.
public enum MessageResponses: String, Sendable, Codable, CaseIterable {
    /// Only to hear that the device took it.
    case none
    case one
    /// Until the device says that there are no more.
    case many
}
