import NIOCore

/// A bound on the rate, from the share of lost packets (draft-ietf-rmcat-gcc-02 §6).
struct LossRate: Sendable {
    /// Bits per second; `nil` while there is no loss to justify a bound.
    private(set) var limit: Double?

    /// The share lost in the last interval, 0 to 1.
    private(set) var lossFraction = 0.0

    private var packets = 0
    private var lost = 0
    private var intervalEnd: NIODeadline?

    private static let interval = TimeAmount.milliseconds(500)
    private static let fewestPackets = 20

    /// Takes the counts of one feedback message.
    ///
    /// - Returns: true when the bound was lowered.
    mutating func note(
        packets count: Int, lost lostCount: Int, target: Double, acknowledged: Int?, at now: NIODeadline
    ) -> Bool {
        packets += count
        lost += lostCount
        let end = intervalEnd ?? now + Self.interval
        intervalEnd = end
        guard now >= end, packets >= Self.fewestPackets else { return false }
        lossFraction = Double(lost) / Double(packets)
        (packets, lost, intervalEnd) = (0, 0, now + Self.interval)
        return apply(target: target, acknowledged: acknowledged)
    }

    /// Takes the loss of a receiver report, where no feedback covers single packets.
    mutating func note(reported fraction: Double, target: Double) -> Bool {
        lossFraction = fraction
        return apply(target: target, acknowledged: nil)
    }

    private mutating func apply(target: Double, acknowledged: Int?) -> Bool {
        if lossFraction > 0.1 {
            // Never below the rate known to arrive: a full queue loses half of all packets for a moment, and three
            // halvings would collapse the rate.
            let floor = acknowledged.map { 0.85 * Double($0) } ?? 0
            let lowered = max(target * (1 - 0.5 * lossFraction), floor)
            guard lowered < limit ?? .infinity, lowered < target else { return false }
            limit = lowered
            return true
        }
        // Some loss is inherent to the path and must not keep the rate low for ever.
        if let bound = limit {
            limit = bound * (lossFraction < 0.02 ? 1.08 : 1.025)
            // Far above the rate that is sent, a bound has no effect.
            if bound > 2 * target { limit = nil }
        }
        return false
    }
}
