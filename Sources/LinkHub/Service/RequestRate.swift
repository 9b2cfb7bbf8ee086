import NIOCore

/// A token bucket that holds the requests of one second.
struct RequestRate: Sendable {
    private var available: Int64
    private var last: NIODeadline

    init(perSecond: Int, at time: NIODeadline) {
        available = Int64(perSecond) * 1_000_000
        last = time
    }

    /// A message's cost: reading it takes time for each byte.
    static func cost(ofBytes count: Int) -> Int64 { 1 + Int64(count) / 4_096 }

    /// Takes `count` requests, or one second's if that is less. Returns false if there are not enough.
    mutating func take(_ count: Int64, perSecond: Int, at time: NIODeadline) -> Bool {
        // In millionths of a request: one microsecond adds one at one request a second.
        let elapsed = min(1_000_000, max(0, (time - last).nanoseconds / 1_000))
        if elapsed > 0 {
            available = min(Int64(perSecond) * 1_000_000, available + elapsed * Int64(perSecond))
            last = time
        }
        let cost = min(count, Int64(perSecond)) * 1_000_000
        guard available >= cost else { return false }
        available -= cost
        return true
    }
}
