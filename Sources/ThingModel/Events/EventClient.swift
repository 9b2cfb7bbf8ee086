public import IoTCore
import IoTLink

/// A user's access to the events of the account's devices: stored events and new ones.
///
/// The hub keeps events for 30 days, and at most 10,000 of each device; then it deletes the oldest. `device` is an id
/// or a name. Reading needs the action `view`, deleting the role owner.
public struct EventClient: Sendable {
    public static let defaultTimeout = Duration.seconds(10)

    public static let usualLimit = 50

    private let link: any ModelLink

    public init(link: any ModelLink) {
        self.link = link
    }

    /// Returns one page of events, newest first.
    ///
    /// - Parameters:
    ///   - device: `nil` for all devices that the account may view.
    ///   - topic: a prefix of the topic.
    ///   - from: ms since 1970, inclusive; `to` likewise.
    ///   - before: only events with a lower id; pass the `next` of the previous page.
    ///   - limit: 1 to 200. A page can be shorter: it fits into one link message (`LinkEnvelope`).
    public func list(
        device: String? = nil, topic: String? = nil, from: Int64? = nil, to: Int64? = nil, before: Int64? = nil,
        limit: Int = usualLimit, timeout: Duration = defaultTimeout
    ) async throws(IoTError) -> EventPage {
        try await link.request(
            EventMethod.list,
            EventListQuery(device: device, topic: topic, from: from, to: to, before: before, limit: Int64(limit)),
            timeout: timeout)
    }

    /// Deletes these events.
    ///
    /// - Returns: how many were deleted; events that did not exist are not counted.
    public func delete(_ ids: [Int64], timeout: Duration = defaultTimeout) async throws(IoTError) -> Int {
        var deleted = 0
        var rest = ids[...]
        while !rest.isEmpty {
            let step = Array(rest.prefix(EventDeletion.step))
            let result = try await link.request(EventMethod.delete, .ids(step), timeout: timeout)
            deleted += Int(clamping: result.deleted)
            rest = rest.dropFirst(step.count)
        }
        return deleted
    }

    /// Deletes a device's events that are older than `before` (ms since 1970), with a topic that begins with `topic`.
    /// `timeout` is for each step of at most 1,000 events.
    ///
    /// - Returns: how many were deleted.
    public func delete(
        device: String, topic: String? = nil, before: Int64, timeout: Duration = defaultTimeout
    ) async throws(IoTError) -> Int {
        var deleted = 0
        while true {
            let result = try await link.request(
                EventMethod.delete, .device(device, topic: topic, before: before), timeout: timeout)
            deleted += Int(clamping: result.deleted)
            guard result.hasMore else { return deleted }
        }
    }

    /// Yields new events. Ends with the link session. A slow reader loses the oldest; `list` returns them.
    public func events() -> some AsyncSequence<ThingEvent, Never> & Sendable {
        link.pushes().compactMap { EventMethod.event.parameters(of: $0) }
    }
}
