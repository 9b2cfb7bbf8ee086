import IoTCore

/// A query for events.
enum EventSelection: Sendable {
    /// The events with these numbers, if they exist.
    case numbers([Int64])
    /// The events that match a filter, newest first.
    case matching(EventFilter, limit: Int, withBodies: Bool)
    /// Of the oldest `limit` events, those from before `t`.
    case oldest(before: Int64, limit: Int)
    /// The oldest events of a device, at most `limit`, that must be deleted so that the bodies of the others fit into
    /// `capacity` bytes.
    case excess(DeviceID, capacity: Int, limit: Int)
}

struct EventFilter: Sendable {
    var devices: Set<DeviceID>
    var topicPrefix: String = ""
    /// ms since 1970.
    var times: ClosedRange<Int64> = .min ... .max
    /// Only events with a number below this one.
    var before: Int64 = .max
}

/// The result of a query.
struct EventRows: Sendable {
    var records: [EventRecord] = []
    /// If set, there may be more events below this number.
    var next: Int64?
}
