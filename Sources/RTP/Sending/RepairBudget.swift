import NIOCore

/// What of a viewer's requests for lost packets (RFC 4585 §6.2.1) is granted: no packet twice while the first repair is
/// on its way, and in the long run no more repairs than packets, so that a few bytes of feedback cannot multiply.
struct RepairBudget: Sendable {
    /// When each of the last packets was last granted, by the low bits of its number, ms since the first grant; made
    /// when something is lost for the first time.
    private var grants: [UInt32] = []
    private var beginning: NIODeadline?
    private var credit = RepairBudget.burst

    /// Repairs that may be asked for at once.
    static let burst = 512

    private static let never = UInt32.max
    private static let shortest = TimeAmount.milliseconds(5)
    private static let longest = TimeAmount.milliseconds(100)

    /// A packet went out for the first time.
    mutating func sent(_ number: UInt16) {
        credit = min(credit + 1, Self.burst)
        if !grants.isEmpty { grants[Int(number) % grants.count] = Self.never }
    }

    /// Whether a packet that is said to be lost goes out again.
    ///
    /// - Parameter roundTrip: as last measured; `nil` before. Half of it must pass: a viewer asks again no sooner than
    ///   after a whole one, and the measurement may be old.
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
