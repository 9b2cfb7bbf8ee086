package import NIOCore

/// What one connection of a server may take.
package struct RTSPServerLimits: Sendable, Hashable {
    /// From the start of a connection until its first authorized request.
    package var loginTime: TimeAmount = .seconds(30)
    /// From the first byte of a message to its last.
    package var messageTime: TimeAmount = .seconds(10)
    /// Between two requests of a connection without a session.
    package var idleTime: TimeAmount = .seconds(60)
    /// The time-out of a session, which is announced to the client.
    package var sessionTime: TimeAmount = .seconds(60)
    /// Requests before the login.
    package var requestsBeforeLogin = 20
    /// Wrong logins.
    package var wrongLogins = 4
    /// The pause before a second login is checked. It doubles with each wrong login.
    package var loginPause: TimeAmount = .milliseconds(250)
    /// Requests: at once, and each second in the long run.
    package var requests = RateLimit.Bound(burst: 60, each: 10)
    /// Interleaved frames of the client. Further ones are ignored.
    package var frames = RateLimit.Bound(burst: 100, each: 50)
    /// Bytes that may come while a request is being answered. A client that sends more is disconnected.
    package var heldBytes = 65_536

    package init() {}
}

/// Counts events against a rate: a bucket of tokens.
package struct RateLimit: Sendable {
    package struct Bound: Sendable, Hashable {
        package var burst: Int
        /// A second.
        package var each: Int

        package init(burst: Int, each: Int) {
            self.burst = burst
            self.each = each
        }
    }

    private let bound: Bound
    /// In thousandths of an event.
    private var credit: Int64
    private var last: NIODeadline

    package init(_ bound: Bound, at now: NIODeadline) {
        self.bound = bound
        credit = Int64(bound.burst) * 1_000
        last = now
    }

    /// Whether one more event is within the rate.
    package mutating func take(at now: NIODeadline) -> Bool {
        let milliseconds = max(0, (now - last).nanoseconds / 1_000_000)
        if milliseconds > 0 {
            // Longer than it takes to fill the bucket: no overflow.
            credit = min(credit + min(milliseconds, 3_600_000) * Int64(bound.each), Int64(bound.burst) * 1_000)
            last = last + .milliseconds(milliseconds)
        }
        guard credit >= 1_000 else { return false }
        credit -= 1_000
        return true
    }
}
