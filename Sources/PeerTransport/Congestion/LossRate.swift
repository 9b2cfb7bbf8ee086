import NIOCore

/// A bound from the share of packets that are lost (draft-ietf-rmcat-gcc-02 §6).
struct LossRate: Sendable {
    /// Bits a second; `nil` while losses give no reason for a bound.
    private(set) var limit: Double?

    /// Of the last interval, 0 to 1.
    private(set) var lossFraction = 0.0

    private var packets = 0
    private var lost = 0
    private var intervalEnd: NIODeadline?

    private static let interval = TimeAmount.milliseconds(500)
    private static let fewestPackets = 20

    /// Takes what one message of feedback told.
    ///
    /// - Returns: true when a bound was lowered.
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

    /// Takes the loss of a receiver report, where nothing tells of single packets.
    mutating func note(reported fraction: Double, target: Double) -> Bool {
        lossFraction = fraction
        return apply(target: target, acknowledged: nil)
    }

    private mutating func apply(target: Double, acknowledged: Int?) -> Bool {
        if lossFraction > 0.1 {
            // Never below what is known to arrive: a full queue loses half of all packets for a moment, and three
            // halvings would be a collapse.
            let floor = acknowledged.map { 0.85 * Double($0) } ?? 0
            let lowered = max(target * (1 - 0.5 * lossFraction), floor)
            guard lowered < limit ?? .infinity, lowered < target else { return false }
            limit = lowered
            return true
        }
        // Some loss is the way's own, and no reason to stay low for ever.
        if let bound = limit {
            limit = bound * (lossFraction < 0.02 ? 1.08 : 1.025)
            // Far above what is sent it bounds nothing.
            if bound > 2 * target { limit = nil }
        }
        return false
    }
}
