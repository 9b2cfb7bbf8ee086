package import NIOCore

/// Limits a rate of events with a token bucket, which is full at first.
package struct RateLimit: Sendable {
    package struct Bound: Sendable, Hashable {
        package var burst: Int
        /// Events per second in the long run.
        package var each: Int

        package init(burst: Int, each: Int) {
            self.burst = burst
            self.each = each
        }
    }

    private let bound: Bound
    /// In thousandths of an event.
    private var credit: Int64
    private var last = NIODeadline.uptimeNanoseconds(0)

    package init(_ bound: Bound) {
        self.bound = bound
        credit = Int64(bound.burst) * 1_000
    }

    /// Whether one more event is within the rate.
    package mutating func take(at now: NIODeadline) -> Bool {
        let milliseconds = max(0, (now - last).nanoseconds / 1_000_000)
        if milliseconds > 0 {
            // The limit of one hour prevents an overflow; the bucket is full long before.
            credit = min(credit + min(milliseconds, 3_600_000) * Int64(bound.each), Int64(bound.burst) * 1_000)
            last = last + .milliseconds(milliseconds)
        }
        guard credit >= 1_000 else { return false }
        credit -= 1_000
        return true
    }
}
