import NIOCore

/// A token bucket that holds one second's requests.
struct RequestRate: Sendable {
    private var available: Int64
    private var last: NIODeadline

    init(perSecond: Int, at time: NIODeadline) {
        available = Int64(perSecond) * 1_000_000
        last = time
    }

    /// Takes one; false when there is none.
    mutating func take(perSecond: Int, at time: NIODeadline) -> Bool {
        // In millionths of a request: what one microsecond brings at one request a second.
        let elapsed = min(1_000_000, max(0, (time - last).nanoseconds / 1_000))
        if elapsed > 0 {
            available = min(Int64(perSecond) * 1_000_000, available + elapsed * Int64(perSecond))
            last = time
        }
        guard available >= 1_000_000 else { return false }
        available -= 1_000_000
        return true
    }
}
