public import IoTCore
public import IoTLink

/// What happens at devices; `docs/link.md`, "Messages and events".
public enum EventMethod {
    /// Device to hub: something happened.
    public static let report = LinkMethod<JSONValue, JSONValue>("event.report", device: .device, isDurable: true)
    /// User to hub.
    public static let list = LinkMethod<JSONValue, JSONValue>("event.list", user: .eachAction(.view))
    public static let delete = LinkMethod<JSONValue, JSONValue>("event.delete", user: .eachOwner, isDurable: true)
    /// Push to users.
    public static let event = LinkPushMethod<JSONValue>("device.event")
}
