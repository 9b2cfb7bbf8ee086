public import IoTCore
public import IoTLink

/// Some events, newest first: what `event.list` answers.
public struct EventPage: LinkValue, Hashable {
    public var events: [ThingEvent]

    /// What to give as `before` for the page that follows; `nil` when there is none. A page may be empty and have a
    /// next one, when the hub looked through many events of others.
    public var next: Int64?

    public init(events: [ThingEvent], next: Int64?) {
        self.events = events
        self.next = next
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        events = try members.readable("events", of: ThingEvent.self)
        // A hub that names no place goes on before its last event.
        let last = try members.list("events").last?["id"]?.integerValue
        next = try members.flag("more") ? try members.optionalInteger("next") ?? last : nil
    }

    public var json: JSONValue {
        .members(["events": .array(events.map(\.json)), "more": .bool(next != nil), "next": .whole(next)])
    }
}

/// What `event.delete` answers.
public struct EventsDeleted: LinkValue, Hashable {
    public var deleted: Int64
    /// More are left that the request meant: ask again.
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
