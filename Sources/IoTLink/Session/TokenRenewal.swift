import IoTCore
import NIOCore

/// Computes when to renew a session's token: at two thirds of its lifetime, on the hub's clock.
///
/// The due time is recomputed from each time that the hub sends, and is kept on the monotonic clock, so that setting
/// the wall clock has no effect. There is always a pause between two attempts, so that a jump of the hub's clock does
/// not cause a loop of requests.
struct TokenRenewal: Sendable {
    /// The maximum time until `due`. Each heartbeat's answer recomputes `due`.
    private static let horizon: Int64 = 30 * 86_400_000
    private static let latestSeconds: Int64 = 253_402_300_799

    private let isWanted: Bool
    /// Seconds since 1970; `nil` if there is no token to renew.
    private var life: (issued: Int64?, expires: Int64)?
    private var failures = 0
    private var notBefore: NIODeadline?
    /// The id of the running `token.renew`.
    var request: String?
    /// When to renew; `nil` for never, or when it is not known yet.
    private(set) var due: NIODeadline?

    init(isWanted: Bool) {
        self.isWanted = isWanted
    }

    mutating func use(_ claims: TokenClaims) {
        due = nil
        life = nil
        guard isWanted, let expires = claims.expires, (0...Self.latestSeconds).contains(expires) else { return }
        life = (claims.issued.flatMap { (0..<expires).contains($0) ? $0 : nil }, expires)
    }

    /// - Parameter hubTime: the current time on the hub's clock, ms since 1970.
    mutating func learn(hubTime: Int64, at now: NIODeadline) {
        guard let life, (0...Self.latestSeconds * 1_000).contains(hubTime) else { return }
        // The lifetime of a token without `iat` starts when we first use it.
        let issued = life.issued ?? min(hubTime / 1_000, life.expires)
        self.life?.issued = issued
        let dueTime = issued * 1_000 + (life.expires - issued) * 2_000 / 3
        let wait = TimeAmount.milliseconds(min(max(dueTime - hubTime, 0), Self.horizon))
        due = max(now + wait, notBefore ?? now)
    }

    mutating func succeeded(at now: NIODeadline) {
        request = nil
        failures = 0
        postpone(by: pause, at: now)
    }

    /// Doubles the pause at each failure, up to a twelfth of the token's lifetime, but at least 1 and at most 10 min.
    mutating func failed(at now: NIODeadline) {
        request = nil
        failures += 1
        let doubled = TimeAmount.nanoseconds(pause.nanoseconds << Int64(min(failures - 1, 10)))
        let longest = TimeAmount.seconds(min(max((lifetime ?? 0) / 12, 60), 600))
        postpone(by: min(doubled, longest), at: now)
    }

    private mutating func postpone(by pause: TimeAmount, at now: NIODeadline) {
        notBefore = now + pause
        due = due.map { max($0, now + pause) }
    }

    private var lifetime: Int64? {
        life.flatMap { life in life.issued.map { life.expires - $0 } }
    }

    /// 10 s, or less for a token with a lifetime below a minute.
    private var pause: TimeAmount {
        .seconds(min(10, max(1, (lifetime ?? 60) / 6)))
    }
}
