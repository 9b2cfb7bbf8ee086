import IoTCore
import NIOCore

/// When a session's token is to be renewed: at two thirds of its life, on the hub's clock.
///
/// What is due is reckoned anew from each hub's time that comes in, and waited for on the monotonic clock: a wall
/// clock that jumps moves nothing. Between two attempts there is always a pause, so that a hub whose clock jumps is
/// not asked in a loop.
struct TokenRenewal: Sendable {
    /// The longest wait that is reckoned ahead; each heartbeat's answer reckons anew.
    private static let horizon: Int64 = 30 * 86_400_000
    private static let latestSeconds: Int64 = 253_402_300_799

    private let isWanted: Bool
    /// Seconds since 1970; `nil` for a token that does not expire.
    private var life: (issued: Int64?, expires: Int64)?
    private var failures = 0
    private var notBefore: NIODeadline?
    /// The request that asks for the new token, while it runs.
    var request: String?
    /// When to ask; `nil` for never, or for not known yet.
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

    /// - Parameter hubTime: ms since 1970 on the hub's clock, now.
    mutating func learn(hubTime: Int64, at now: NIODeadline) {
        guard let life, (0...Self.latestSeconds * 1_000).contains(hubTime) else { return }
        // A token that does not say since when it lives, lives since we first used it.
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

    /// The pauses double, up to a twelfth of the token's life: 1 to 10 min.
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

    /// 10 s, and less for a token that lives less than a minute.
    private var pause: TimeAmount {
        .seconds(min(10, max(1, (lifetime ?? 60) / 6)))
    }
}
