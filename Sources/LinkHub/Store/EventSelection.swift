import IoTCore

/// Which events a store is asked for.
enum EventSelection: Sendable {
    /// Those of these that there are.
    case numbers([Int64])
    /// Those that a filter lets through, newest first.
    case matching(EventFilter, limit: Int, withBodies: Bool)
    /// Of the oldest `limit` events those from before `t`.
    case oldest(before: Int64, limit: Int)
    /// The oldest of a device, at most `limit`, without which the others' bodies keep within `capacity` bytes.
    case excess(DeviceID, capacity: Int, limit: Int)
}

struct EventFilter: Sendable {
    var devices: Set<DeviceID>
    var topicPrefix: String = ""
    /// ms since 1970.
    var times: ClosedRange<Int64> = .min ... .max
    /// Only lower numbers.
    var before: Int64 = .max
}

/// What a query found.
struct EventRows: Sendable {
    var records: [EventRecord] = []
    /// There may be more, below this number.
    var next: Int64?
}
