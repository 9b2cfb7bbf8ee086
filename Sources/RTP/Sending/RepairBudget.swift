import NIOCore

/// Limits the retransmissions that a viewer can request (RFC 4585 §6.2.1): no packet is sent twice while its first
/// retransmission is on its way, and in the long run there are no more retransmissions than packets, so that small
/// feedback messages cannot be used for amplification.
struct RepairBudget: Sendable {
    /// The times of the last grants, indexed by the low bits of the sequence number, in ms since the first grant;
    /// allocated at the first loss.
    private var grants: [UInt32] = []
    private var beginning: NIODeadline?
    private var credit = RepairBudget.burst

    /// The number of retransmissions that may be granted at once.
    static let burst = 512

    private static let never = UInt32.max
    private static let shortest = TimeAmount.milliseconds(5)
    private static let longest = TimeAmount.milliseconds(100)

    /// Call when packets are sent for the first time, from this number on.
    mutating func sent(_ number: UInt16, count: Int) {
        credit = min(credit + count, Self.burst)
        guard !grants.isEmpty else { return }
        for index in 0..<count {
            grants[Int(number &+ UInt16(truncatingIfNeeded: index)) % grants.count] = Self.never
        }
    }

    /// Whether a requested packet is sent again.
    ///
    /// - Parameter roundTrip: the last measurement; `nil` before the first. Half of it must pass between two grants:
    ///   viewers wait a whole round trip before they repeat a request, and the measurement may be old.
    mutating func grant(_ number: UInt16, roundTrip: TimeAmount?, at now: NIODeadline) -> Bool {
        guard credit > 0 else { return false }
        let start = beginning ?? now
        beginning = start
        if grants.isEmpty { grants = Array(repeating: Self.never, count: RTPSender.historyLength) }
        let time = UInt32(clamping: (now - start).nanoseconds / 1_000_000)
        let place = Int(number) % grants.count
        let half = TimeAmount.nanoseconds((roundTrip ?? .zero).nanoseconds / 2)
        let pause = min(max(half, Self.shortest), Self.longest)
        if grants[place] != Self.never, time < grants[place] &+ UInt32(pause.nanoseconds / 1_000_000) { return false }
        grants[place] = time
        credit -= 1
        return true
    }
}
