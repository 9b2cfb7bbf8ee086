import NIOCore

/// Limits the unicast packets, so that a forged source address cannot flood another host.
struct TokenBucket {
    private let capacity: Double
    private let perSecond: Double
    private var tokens: Double
    private var filledAt: NIODeadline?

    init(capacity: Double, perSecond: Double) {
        self.capacity = capacity
        self.perSecond = perSecond
        tokens = capacity
    }

    mutating func take(at now: NIODeadline) -> Bool {
        if let filledAt {
            tokens = min(capacity, tokens + Double((now - filledAt).nanoseconds) / 1e9 * perSecond)
        }
        filledAt = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
