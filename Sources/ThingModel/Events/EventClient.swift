public import IoTCore
import IoTLink

/// A user's way to the events of the account's devices: what the hub keeps of them, and what comes.
///
/// The hub keeps an event 30 days, and 10,000 of a device; then the oldest go. `device` is an id or a name; reading
/// needs the action `view`, deleting the role owner.
public struct EventClient: Sendable {
    public static let defaultTimeout = Duration.seconds(10)

    /// The most events of one page.
    public static let maximumLimit = 200

    private let link: any ModelLink

    public init(link: any ModelLink) {
        self.link = link
    }

    /// One page of events, newest first.
    ///
    /// - Parameters:
    ///   - device: `nil` for all devices that the account may view.
    ///   - topic: how the topic begins.
    ///   - from: ms since 1970, inclusive; `to` likewise.
    ///   - before: only events with a lower id: a page's `next`.
    ///   - limit: 1 to 200. A page also ends when it fills an envelope.
    public func list(
        device: String? = nil, topic: String? = nil, from: Int64? = nil, to: Int64? = nil, before: Int64? = nil,
        limit: Int = 50, timeout: Duration = defaultTimeout
    ) async throws(IoTError) -> EventPage {
        var params: JSONValue = ["limit": .integer(Int64(limit))]
        params["device"] = device.map { .string($0) }
        params["topic"] = topic.map { .string($0) }
        params["from"] = from.map { .integer($0) }
        params["to"] = to.map { .integer($0) }
        params["before"] = before.map { .integer($0) }
        let result = try await link.request(EventMethod.list, params, timeout: timeout, id: nil)
        guard let list = result["events"]?.arrayValue else {
            throw IoTError(.modelReceiveFailed, "the events that the hub sent make no sense")
        }
        return EventPage(
            events: list.compactMap(ThingEvent.init(json:)),
            next: result["more"]?.boolValue == true ? result["next"]?.integerValue : nil)
    }

    /// Deletes these events; those that are gone already do not count.
    /// - Returns: How many were deleted.
    public func delete(_ ids: [Int64], timeout: Duration = defaultTimeout) async throws(IoTError) -> Int {
        var deleted = 0
        var rest = ids[...]
        while !rest.isEmpty {
            let params: JSONValue = ["ids": .array(rest.prefix(1_000).map { .integer($0) })]
            let result = try await link.request(EventMethod.delete, params, timeout: timeout, id: nil)
            deleted += Int(clamping: result["deleted"]?.integerValue ?? 0)
            rest = rest.dropFirst(1_000)
        }
        return deleted
    }

    /// Deletes a device's events from before `before` (ms since 1970), those whose topic begins with `topic`.
    /// `timeout` is for each step of at most 1,000.
    /// - Returns: How many were deleted.
    public func delete(
        device: String, topic: String? = nil, before: Int64, timeout: Duration = defaultTimeout
    ) async throws(IoTError) -> Int {
        var params: JSONValue = ["device": .string(device), "before": .integer(before)]
        params["topic"] = topic.map { .string($0) }
        var deleted = 0
        while true {
            let result = try await link.request(EventMethod.delete, params, timeout: timeout, id: nil)
            deleted += Int(clamping: result["deleted"]?.integerValue ?? 0)
            guard result["more"]?.boolValue == true else { return deleted }
        }
    }

    /// What happens from now on; ends with the link session. A slow reader loses the oldest: `list` has them.
    public func events() -> some AsyncSequence<ThingEvent, Never> & Sendable {
        link.pushes().compactMap { $0.method == EventMethod.event.name ? ThingEvent(json: $0.params) : nil }
    }
}

/// Some events, newest first.
public struct EventPage: Sendable, Hashable {
    public var events: [ThingEvent]

    /// What to give as `before` for the page that follows; `nil` when there is none. A page may be empty and have a
    /// next one, when the hub looked through many events of others.
    public var next: Int64?

    public init(events: [ThingEvent], next: Int64?) {
        self.events = events
        self.next = next
    }
}
