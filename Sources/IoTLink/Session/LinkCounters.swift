/// What a link session counted since it was made.
public struct LinkCounters: Sendable, Equatable {
    /// Envelopes that were too large or not understood, and were ignored.
    public var malformedEnvelopes = 0
    /// Answers that nobody waited for (any more).
    public var unexpectedReplies = 0
    /// Requests of others that came after their deadline and were not executed.
    public var expiredRequests = 0
    /// Repeated requests of others, answered from memory or already running.
    public var repeatedRequests = 0
    /// Requests of others refused because too many ran.
    public var refusedRequests = 0
    /// Requests of ours sent again after a lost connection.
    public var resentRequests = 0
    /// Requests of ours sent again on the same connection, because no answer came.
    public var repeatedOwnRequests = 0
    /// Pushes dropped because a reader was slow.
    public var droppedPushes = 0
    /// How often the session became online.
    public var onlineCount = 0

    /// Tokens that were renewed in time, and attempts that failed.
    public var renewedTokens = 0
    public var failedRenewals = 0
    /// Moves of a session that was online to a new connection, and attempts that failed.
    public var handovers = 0
    public var failedHandovers = 0

    public init() {}
}
