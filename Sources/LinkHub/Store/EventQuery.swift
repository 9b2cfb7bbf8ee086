import IoTCore
import IoTLink

/// What the hub wants to know of its events before it can answer, or delete: events are not held in memory.
struct EventQuery: Sendable {
    enum Purpose: Sendable {
        case list
        case delete
        /// The hub's own deleting of what is too old.
        case expire
        /// The hub's own deleting of a device's oldest, which a new one has no room beside.
        case trim
    }

    var selection: EventSelection
    var purpose: Purpose
    /// Who asked, and may; nobody for the hub's own.
    var permit: HubPermit?
}

/// Which events.
enum EventSelection: Sendable {
    /// Those of these that there are.
    case numbers([Int64])
    /// Those that a filter lets through, newest first.
    case matching(EventFilter, limit: Int, withBodies: Bool)
    /// Of the oldest `limit` events those from before `t`.
    case oldest(before: Int64, limit: Int)
    /// The oldest of a device, at most `limit`, without which another of `size` bytes keeps within `capacity`; those
    /// after the first `trimmed`, which go anyway.
    case excess(DeviceID, trimmed: Int, size: Int, capacity: Int, limit: Int)
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
