/// Counters since the start.
public struct HubStatistics: Sendable, Hashable {
    public var requests = 0
    /// Requests that a repeat of an earlier one was answered with.
    public var repeatedRequests = 0
    /// Messages that were no envelope, or came from a session that is over.
    public var ignoredMessages = 0
    /// Requests answered with 25024.
    public var refusedRequests = 0
    public var transactions = 0
    public var storeFailures = 0

    public init() {}
}
