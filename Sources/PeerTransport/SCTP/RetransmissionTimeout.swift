import NIOCore

/// The time to wait for an acknowledgement (RFC 9260 §6.3.1).
struct RetransmissionTimeout {
    private let minimum: TimeAmount
    private let maximum: TimeAmount
    private(set) var smoothedRoundTrip: TimeAmount?
    private var variation = TimeAmount.zero
    private(set) var current: TimeAmount

    init(_ configuration: SCTPConfiguration) {
        minimum = configuration.minimumTimeout
        maximum = configuration.maximumTimeout
        current = configuration.initialTimeout
    }

    mutating func measure(_ roundTrip: TimeAmount) {
        let sample = min(max(roundTrip, .nanoseconds(1)), maximum)
        if let smoothed = smoothedRoundTrip {
            let difference = abs((smoothed - sample).nanoseconds)
            variation = .nanoseconds((variation.nanoseconds * 3 + difference) / 4)
            smoothedRoundTrip = .nanoseconds((smoothed.nanoseconds * 7 + sample.nanoseconds) / 8)
        } else {
            smoothedRoundTrip = sample
            variation = .nanoseconds(sample.nanoseconds / 2)
        }
        let smoothed = smoothedRoundTrip ?? sample
        current = clamp(smoothed + .nanoseconds(variation.nanoseconds * 4))
    }

    /// After a timeout (§6.3.3 E2).
    mutating func backOff() {
        current = clamp(.nanoseconds(current.nanoseconds * 2))
    }

    private func clamp(_ time: TimeAmount) -> TimeAmount {
        min(max(time, minimum), maximum)
    }
}
