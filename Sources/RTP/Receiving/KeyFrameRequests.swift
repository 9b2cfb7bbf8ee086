import NIOCore

/// Decides when to request a key frame: at once after a loss, but not too often, and again while none arrives.
struct KeyFrameRequests: Sendable {
    private let interval: TimeAmount
    private var backoff: TimeAmount
    private var lastRequest: NIODeadline?

    /// When the next request is due.
    private(set) var deadline: NIODeadline?

    private static let largestBackoff = TimeAmount.seconds(8)

    init(interval: TimeAmount) {
        self.interval = interval
        backoff = interval * 2
    }

    mutating func want(at now: NIODeadline) {
        let earliest = lastRequest.map { max($0 + interval, now) } ?? now
        deadline = min(deadline ?? earliest, earliest)
        backoff = interval * 2
    }

    /// Call when a key frame has arrived.
    mutating func satisfy() {
        deadline = nil
    }

    /// Whether to send a request now.
    mutating func take(at now: NIODeadline) -> Bool {
        guard let due = deadline, now >= due else { return false }
        lastRequest = now
        deadline = now + backoff
        backoff = min(backoff * 2, Self.largestBackoff)
        return true
    }
}
