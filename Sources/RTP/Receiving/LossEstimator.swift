import NIOCore

/// The share of packets that had to be asked for, and how many rounds of asking that makes likely.
struct LossEstimator: Sendable {
    /// Beyond so many packets the old ones count ever less.
    private static let memory = 1_024.0

    /// A track's packets of some ten seconds: what happens to less than half a packet of them is passed over.
    private static let considered = 1_000.0
    private static let mostRounds = 4

    private var packets = 0.0
    private var lost = 0.0

    mutating func note(isLost: Bool) {
        if packets >= Self.memory {
            packets /= 2
            lost /= 2
        }
        packets += 1
        if isLost { lost += 1 }
    }

    /// How often the unluckiest packet of the next seconds will be asked for.
    ///
    /// A round fails when the request or its answer is lost; from the second one on each request goes out twice.
    var rounds: Int {
        // Before many packets came, one loss says little of its share.
        let share = lost / max(packets, 64)
        let failure = min(1, 2 * share)
        var remaining = share * Self.considered
        var rounds = 0
        while remaining > 0.5, rounds < Self.mostRounds {
            rounds += 1
            remaining *= rounds == 1 ? failure : failure * failure
        }
        return rounds
    }
}
