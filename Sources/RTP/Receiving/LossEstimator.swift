import NIOCore

/// Estimates the share of lost packets, and from it how many rounds of requests are likely to be needed.
struct LossEstimator: Sendable {
    /// After this many packets, all counts are halved so that old packets weigh less.
    private static let memory = 1_024.0

    /// The packets of a track in about ten seconds. Events that are expected for less than half a packet of them are
    /// ignored.
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

    /// How often the unluckiest packet of the next seconds will be requested.
    ///
    /// A round fails when the request or the retransmission is lost. From the second round on, each request is sent
    /// twice.
    var rounds: Int {
        // With few packets, a single loss would give too high a share.
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
