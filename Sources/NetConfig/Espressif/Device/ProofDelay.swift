import NIOCore

/// The time after wrong proofs in which proofs are refused: 1 s, 2 s, 4 s … 64 s. Also limits how often a session may
/// be opened, because each costs the device two long exponentiations.
struct ProofDelay: Sendable {
    private static let longest = 6
    private static let openingsAtOnce = 8
    private static let openingTime = TimeAmount.seconds(10)

    private var failures = 0
    private var closedUntil = NIODeadline.distantPast
    private var openings: [NIODeadline] = []

    /// Seconds until a session may be opened; `nil` if one may be opened now.
    mutating func open(at now: NIODeadline) -> Int? {
        if let wait = wait(at: now) { return wait }
        openings.removeAll { $0 + Self.openingTime <= now }
        if openings.count >= Self.openingsAtOnce, let oldest = openings.first {
            return Self.seconds(oldest + Self.openingTime - now)
        }
        openings.append(now)
        return nil
    }

    /// Seconds until a proof is accepted again.
    func wait(at now: NIODeadline) -> Int? {
        now < closedUntil ? Self.seconds(closedUntil - now) : nil
    }

    /// - Returns: Seconds to wait.
    mutating func wrong(at now: NIODeadline) -> Int {
        let wait = Int64(1) << Int64(min(failures, Self.longest))
        failures += 1
        closedUntil = now + .seconds(wait)
        return Int(wait)
    }

    mutating func right() {
        failures = 0
    }

    private static func seconds(_ time: TimeAmount) -> Int {
        Int((time.nanoseconds + 999_999_999) / 1_000_000_000)
    }
}
