package import GatewayAPI

/// Stored and live events.
package protocol GatewayEvents: Sendable {
    func stored(_ query: StoredEventQuery) async throws -> StoredEventList
    func deleteStored(_ deletion: StoredEventDeletion) async throws -> StoredEventDeletionResponse
    /// The events from now on, or those after `lastID`.
    func follow(
        _ kinds: Set<GatewayEvent.Kind>, device: String?, after lastID: String?
    ) async throws -> AsyncStream<NumberedEvent>
}

/// The criteria for stored events.
package struct StoredEventQuery: Sendable {
    package var device: String?
    /// A prefix of the topic.
    package var topic: String?
    /// ms since 1970.
    package var from: Int64?
    package var to: Int64?
    /// An event's id. Only older events match.
    package var before: Int64?
    package var limit: Int64?

    package init(device: String?, topic: String?, from: Int64?, to: Int64?, before: Int64?, limit: Int64?) {
        self.device = device
        self.topic = topic
        self.from = from
        self.to = to
        self.before = before
        self.limit = limit
    }
}
