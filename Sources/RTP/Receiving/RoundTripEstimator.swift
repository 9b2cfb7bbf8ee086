import NIOCore

/// Estimates the round-trip time and the reordering, from which the delay of the first request and of its repetition
/// follow.
struct RoundTripEstimator: Sendable {
    private(set) var smoothed: TimeAmount?
    private var variation = TimeAmount.zero
    private let initial: TimeAmount
    private var isMeasured = false

    /// How late reordered packets have been recently: rises at once, falls slowly.
    private var lateness = TimeAmount.milliseconds(5)

    private static let smallestInterval = TimeAmount.milliseconds(10)
    private static let largestInterval = TimeAmount.milliseconds(500)
    private static let smallestDelay = TimeAmount.milliseconds(2)
    private static let largestDelay = TimeAmount.milliseconds(50)

    init(initial: TimeAmount) {
        self.initial = initial
    }

    /// Adds a reliable measurement. RFC 6298 §2: weights 1/8 and 1/4.
    mutating func note(measured sample: TimeAmount) {
        isMeasured = true
        smooth(sample)
    }

    /// Adds the time from a request to the packet, unless reliable measurements exist. Returns false for less than half
    /// the estimate, and ignores it: the packet may be the late original. Otherwise the estimate would shrink until
    /// each packet was requested twice before its answer arrived.
    mutating func note(possibleAnswer answer: TimeAmount) -> Bool {
        guard answer.nanoseconds * 2 >= (smoothed ?? initial).nanoseconds else { return false }
        if !isMeasured { smooth(answer) }
        return true
    }

    /// Adds the time from a single request to the packet in the retransmission stream, which must be its answer.
    /// Ignored if reliable measurements exist.
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

    /// Adds the time from the detection of a gap to the arrival of the late original.
    mutating func note(lateness sample: TimeAmount) {
        lateness = min(max(lateness, sample), Self.largestDelay)
    }

    /// Reduces the lateness; called once per report.
    mutating func decay() {
        lateness = max(.nanoseconds(lateness.nanoseconds * 7 / 8), Self.smallestDelay)
    }

    /// The time from a gap to the first request: shorter delays are explained by reordering.
    var requestDelay: TimeAmount { lateness }

    /// The time from a request to its repetition.
    var repeatInterval: TimeAmount {
        guard let smoothed else { return initial }
        // The answer may be reordered like any packet.
        let interval = smoothed + max(variation * 2, lateness)
        return min(max(interval, Self.smallestInterval), Self.largestInterval)
    }
}
