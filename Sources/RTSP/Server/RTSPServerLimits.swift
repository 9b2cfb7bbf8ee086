package import NIOCore

/// The limits of one connection of the server.
package struct RTSPServerLimits: Sendable, Hashable {
    /// The longest time from the start of a connection to its login.
    package var loginTime: TimeAmount = .seconds(30)
    /// The longest time from the first byte of a message to its last.
    package var messageTime: TimeAmount = .seconds(10)
    /// The longest time between two requests of a connection without a session.
    package var idleTime: TimeAmount = .seconds(60)
    /// The time-out of a session, which is announced to the client.
    package var sessionTime: TimeAmount = .seconds(60)
    /// The largest number of requests before the login.
    package var requestsBeforeLogin = 20
    /// The number of wrong logins that ends a connection.
    package var wrongLogins = 4
    /// The pause before a second login is checked. It doubles with each wrong login.
    package var loginPause: TimeAmount = .milliseconds(250)
    /// The rate of requests.
    package var requests = RateLimit.Bound(burst: 60, each: 10)
    /// The rate of the client's interleaved frames. Excess frames are ignored.
    package var frames = RateLimit.Bound(burst: 100, each: 50)
    /// The largest number of bytes received while a request is being handled. A client that sends more is disconnected.
    package var heldBytes = 65_536

    package init() {}
}

/// Limits a rate of events with a token bucket.
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
            // The limit of one hour prevents an overflow; the bucket is full long before.
            credit = min(credit + min(milliseconds, 3_600_000) * Int64(bound.each), Int64(bound.burst) * 1_000)
            last = last + .milliseconds(milliseconds)
        }
        guard credit >= 1_000 else { return false }
        credit -= 1_000
        return true
    }
}
