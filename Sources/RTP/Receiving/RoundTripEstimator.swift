import NIOCore

/// How long answers take and how far packets overtake each other: when to ask for a packet, and when to ask again.
struct RoundTripEstimator: Sendable {
    private(set) var smoothed: TimeAmount?
    private var variation = TimeAmount.zero
    private let initial: TimeAmount
    private var isMeasured = false

    /// How late reordered packets have lately been: rises at once, falls slowly.
    private var lateness = TimeAmount.milliseconds(5)

    private static let smallestInterval = TimeAmount.milliseconds(10)
    private static let largestInterval = TimeAmount.milliseconds(500)
    private static let smallestDelay = TimeAmount.milliseconds(2)
    private static let largestDelay = TimeAmount.milliseconds(50)

    init(initial: TimeAmount) {
        self.initial = initial
    }

    /// A time that is certain. RFC 6298 §2: an eighth and a quarter.
    mutating func note(measured sample: TimeAmount) {
        isMeasured = true
        smooth(sample)
    }

    /// Takes the time from a request to the packet. It may be the packet itself, late, rather than its retransmission:
    /// false for a time so short, which then counts for nothing. Taken in, such times would shorten the interval until
    /// every true answer came behind a second request, and counted for nothing either.
    mutating func isPlausible(answer: TimeAmount) -> Bool {
        guard answer.nanoseconds * 2 >= (smoothed ?? initial).nanoseconds else { return false }
        if !isMeasured { smooth(answer) }
        return true
    }

    /// Takes the time from the only request to the repair that can be nothing but its answer.
    mutating func note(answer sample: TimeAmount) {
        if !isMeasured { smooth(sample) }
    }

    private mutating func smooth(_ sample: TimeAmount) {
        guard let smoothed else {
            self.smoothed = sample
            variation = .nanoseconds(sample.nanoseconds / 2)
            return
        }
        let difference = sample.nanoseconds - smoothed.nanoseconds
        variation = .nanoseconds((3 * variation.nanoseconds + abs(difference)) / 4)
        self.smoothed = .nanoseconds(smoothed.nanoseconds + difference / 8)
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
        // The answer may be as late as any packet.
        let interval = smoothed + max(variation * 2, lateness)
        return min(max(interval, Self.smallestInterval), Self.largestInterval)
    }
}
