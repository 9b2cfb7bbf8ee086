import IoTCore
public import IoTLink

/// Methods for events of devices; `docs/link.md`, "Messages and events".
public enum EventMethod {
    /// Device to hub: report an event.
    public static let report = LinkMethod<EventReport, EventNumber>("event.report", device: .device, isDurable: true)
    /// User to hub.
    public static let list = LinkMethod<EventListQuery, EventPage>("event.list", user: .eachAction(.view))
    public static let delete = LinkMethod<EventDeletion, EventsDeleted>(
        "event.delete", user: .eachOwner, isDurable: true)
    /// Push to users.
    public static let event = LinkPushMethod<ThingEvent>("device.event")
}
