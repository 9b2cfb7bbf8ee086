import NIOCore

/// The lifetime of another host's record (RFC 6762 §5.2, §10).
struct Lease {
    private(set) var received: NIODeadline
    private(set) var expires: NIODeadline
    /// When the record is requested again, so that it does not expire while it is in use.
    private(set) var nextRefresh: NIODeadline?
    private var refreshes = 0

    /// In thousandths of the record's lifetime.
    private static let refreshPoints: [Int64] = [800, 850, 900, 950]
    /// §10.1: a withdrawn record is valid for one more second.
    private static let goodbye = TimeAmount.seconds(1)
    /// Other hosts' times to live are limited to a day.
    private static let maximumTTL: UInt32 = 86_400

    init(ttl: UInt32, at now: NIODeadline, jitter: inout Jitter) {
        received = now
        expires = now + .seconds(Int64(min(ttl, Self.maximumTTL)))
        scheduleRefresh(&jitter)
    }

    /// Shortens the lifetime: for a goodbye, and for a record that another one flushes (§10.2).
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

    /// The remaining seconds.
    func remaining(at now: NIODeadline) -> UInt32 {
        UInt32(clamping: max(0, (expires - now).nanoseconds / 1_000_000_000))
    }

    /// §7.1: a record is a known answer only for more than half its lifetime.
    func isFresh(at now: NIODeadline) -> Bool { (expires - now) > (now - received) }
}
