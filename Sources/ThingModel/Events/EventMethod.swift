/// The link methods of events; `docs/link.md` describes them.
public enum EventMethod {
    /// Device to hub: something happened.
    public static let report = "event.report"
    /// User to hub.
    public static let list = "event.list"
    public static let delete = "event.delete"
    /// Push to users.
    public static let event = "device.event"
}
