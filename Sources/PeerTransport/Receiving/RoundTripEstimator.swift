import NIOCore

/// How long answers take and how far packets overtake each other: when to ask for a packet, and when to ask again.
struct RoundTripEstimator: Sendable {
    private(set) var smoothed: TimeAmount?
    private var variation = TimeAmount.zero
    private let initial: TimeAmount

    /// How late reordered packets have lately been: rises at once, falls slowly.
    private var lateness = TimeAmount.milliseconds(5)

    private static let smallestInterval = TimeAmount.milliseconds(10)
    private static let largestInterval = TimeAmount.milliseconds(500)
    private static let smallestDelay = TimeAmount.milliseconds(2)
    private static let largestDelay = TimeAmount.milliseconds(50)

    init(initial: TimeAmount) {
        self.initial = initial
    }

    /// One answer's time. RFC 6298 §2: an eighth and a quarter.
    mutating func note(roundTrip sample: TimeAmount) {
        guard let smoothed else {
            self.smoothed = sample
            variation = .nanoseconds(sample.nanoseconds / 2)
            return
        }
        let difference = abs(smoothed.nanoseconds - sample.nanoseconds)
        variation = .nanoseconds((3 * variation.nanoseconds + difference) / 4)
        self.smoothed = .nanoseconds((7 * smoothed.nanoseconds + sample.nanoseconds) / 8)
    }

    /// A packet came this long after its gap was seen, without having been asked for.
    mutating func note(lateness sample: TimeAmount) {
        lateness = min(max(lateness, sample), Self.largestDelay)
    }

    /// Forgets a part of the lateness; called once a report.
    mutating func decay() {
        lateness = max(.nanoseconds(lateness.nanoseconds * 7 / 8), Self.smallestDelay)
    }

    /// From a gap to the first request: what reordering explains.
    var requestDelay: TimeAmount { lateness }

    /// From a request to its repeat.
    var repeatInterval: TimeAmount {
        guard let smoothed else { return initial }
        let interval = TimeAmount.nanoseconds(smoothed.nanoseconds + 2 * variation.nanoseconds)
        return min(max(interval, Self.smallestInterval), Self.largestInterval)
    }

    /// An answer faster than this is the packet itself, late, rather than its retransmission.
    var smallestPlausible: TimeAmount {
        .nanoseconds((smoothed?.nanoseconds ?? 0) / 2)
    }
}
