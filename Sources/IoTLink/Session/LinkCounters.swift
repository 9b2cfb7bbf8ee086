/// The counters of a link session, from its creation.
public struct LinkCounters: Sendable, Equatable {
    /// Envelopes that were ignored because they were too large or malformed.
    public var malformedEnvelopes = 0
    /// Answers to requests that are unknown or have ended.
    public var unexpectedReplies = 0
    /// Requests of others that came after their deadline and were not executed.
    public var expiredRequests = 0
    /// Repeated requests of others, which were answered from memory or already running.
    public var repeatedRequests = 0
    /// Requests of others that were refused because too many were running.
    public var refusedRequests = 0
    /// Our requests that were sent again after a lost connection.
    public var resentRequests = 0
    /// Our requests that were sent again on the same connection, because no answer came.
    public var repeatedOwnRequests = 0
    /// Pushes that were dropped because a reader was slow.
    public var droppedPushes = 0
    /// How often the session came online.
    public var onlineCount = 0

    /// Tokens that were renewed.
    public var renewedTokens = 0
    /// Renewals that failed.
    public var failedRenewals = 0
    /// Moves of an online session to a new connection.
    public var handovers = 0
    /// Moves that failed.
    public var failedHandovers = 0

    public init() {}
}
