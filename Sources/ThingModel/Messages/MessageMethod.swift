import IoTCore
public import IoTLink

/// Methods for pass-through messages; `docs/link.md`, "Messages and events".
public enum MessageMethod {
    /// User to hub: send data to a device.
    public static let send = LinkMethod<MessageToDevice, MessageResponse>(
        "message.send", user: .action(.control), longestDeadline: .seconds(600))
    /// User to hub: send data to the hub itself, by path.
    public static let askServer = LinkMethod<ServerQuery, MessageContent>("server.request", user: .account)
    /// Device to hub: data for the device's users.
    public static let push = LinkMethod<MessageContent, LinkNothing>("message.push", device: .device)
    /// Hub to device: data from a user.
    public static let receive = LinkMethod<MessageFromUser, MessageResponse>("message.receive")
    /// Push to users: data from a device.
    public static let data = LinkPushMethod<DeviceData>("device.data")
}
