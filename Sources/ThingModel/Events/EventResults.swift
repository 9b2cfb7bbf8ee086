public import IoTCore
public import IoTLink

/// The result of `event.list`: a page of events, newest first.
public struct EventPage: LinkValue, Hashable {
    public var events: [ThingEvent]

    /// The value of `before` for the next page; `nil` when there is none. A page may be empty and have a next one, when
    /// the hub skipped many events that did not match.
    public var next: Int64?

    public init(events: [ThingEvent], next: Int64?) {
        self.events = events
        self.next = next
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        events = try members.readable("events", of: ThingEvent.self)
        // If the hub sends no `next`, the next page begins before the last event.
        let last = try members.list("events").last?["id"]?.integerValue
        next = try members.flag("more") ? try members.optionalInteger("next") ?? last : nil
    }

    public var json: JSONValue {
        .members(["events": .array(events.map(\.json)), "more": .bool(next != nil), "next": .whole(next)])
    }
}

/// The result of `event.delete`.
public struct EventsDeleted: LinkValue, Hashable {
    public var deleted: Int64
    /// Whether more matching events are left: send the request again.
    public var hasMore: Bool

    public init(deleted: Int64, hasMore: Bool) {
        self.deleted = deleted
        self.hasMore = hasMore
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        deleted = try members.integer("deleted")
        hasMore = try members.flag("more")
    }

    public var json: JSONValue { ["deleted": .integer(deleted), "more": .bool(hasMore)] }
}
