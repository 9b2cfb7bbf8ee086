package import GatewayAPI

/// What happened, and what happens.
package protocol GatewayEvents: Sendable {
    func stored(_ query: StoredEventQuery) async throws -> StoredEventList
    func deleteStored(_ deletion: StoredEventDeletion) async throws -> StoredEventDeletionResponse
    /// From now on, or behind the event of `lastID`.
    func follow(
        _ kinds: Set<GatewayEvent.Kind>, device: String?, after lastID: String?
    ) async throws -> AsyncStream<NumberedEvent>
}

/// What of the stored events is wanted.
package struct StoredEventQuery: Sendable {
    package var device: String?
    /// A prefix.
    package var topic: String?
    /// ms since 1970.
    package var from: Int64?
    package var to: Int64?
    /// An event's id; older ones are wanted.
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
