import NIOCore

/// How long a record of others is good (RFC 6762 §5.2, §10).
struct Lease {
    private(set) var received: NIODeadline
    private(set) var expires: NIODeadline
    /// When the record is asked for again, so that it does not end while it is in use.
    private(set) var nextRefresh: NIODeadline?
    private var refreshes = 0

    /// In thousandths of the record's life.
    private static let refreshPoints: [Int64] = [800, 850, 900, 950]
    /// §10.1: a record that is withdrawn is good for one more second.
    private static let goodbye = TimeAmount.seconds(1)
    /// A stranger's time to live is cut to a day.
    private static let maximumTTL: UInt32 = 86_400

    init(ttl: UInt32, at now: NIODeadline, jitter: inout Jitter) {
        received = now
        expires = now + .seconds(Int64(min(ttl, Self.maximumTTL)))
        scheduleRefresh(&jitter)
    }

    /// For an early end: of a goodbye, and of a record that another flushes (§10.2).
    mutating func end(at now: NIODeadline) {
        expires = min(expires, now + Self.goodbye)
        nextRefresh = nil
    }

    mutating func refreshed(_ jitter: inout Jitter) {
        refreshes += 1
        scheduleRefresh(&jitter)
    }

    private mutating func scheduleRefresh(_ jitter: inout Jitter) {
        guard refreshes < Self.refreshPoints.count else {
            nextRefresh = nil
            return
        }
        let life = (expires - received).nanoseconds
        // §5.2: with a random part of 2 %.
        let extra = jitter.milliseconds(0...20).nanoseconds / 1_000_000
        nextRefresh = received + .nanoseconds(life / 1_000 * (Self.refreshPoints[refreshes] + extra))
    }

    func isRefreshDue(at now: NIODeadline) -> Bool { nextRefresh.map { $0 <= now } ?? false }

    /// Seconds that are left.
    func remaining(at now: NIODeadline) -> UInt32 {
        UInt32(clamping: max(0, (expires - now).nanoseconds / 1_000_000_000))
    }

    /// §7.1: only what is good for more than half its time is a known answer.
    func isFresh(at now: NIODeadline) -> Bool { (expires - now) > (now - received) }
}
