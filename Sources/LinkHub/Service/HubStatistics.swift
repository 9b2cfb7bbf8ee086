/// Counters since the start.
public struct HubStatistics: Sendable, Hashable {
    public var requests = 0
    /// Repeated requests that got the answer of the earlier one.
    public var repeatedRequests = 0
    /// Messages that were not an envelope, or came from a session that has ended.
    public var ignoredMessages = 0
    /// Requests refused because of overload (25024) or a failed store (25009).
    public var refusedRequests = 0
    public var transactions = 0
    public var storeFailures = 0

    public init() {}
}
