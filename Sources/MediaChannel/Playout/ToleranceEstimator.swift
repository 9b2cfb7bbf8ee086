/// The jitter that the delay is sized for, in µs: up at once, down slowly.
struct ToleranceEstimator {
    private let maximum: Int64
    private let decay: Double
    private let peakLifetime: Int64

    /// However small the tolerance, it may lose this much in a second.
    private static let leastDecay = 5_000.0

    private(set) var tolerance: Int64
    private var updated: Int64?

    /// The latest arrival of the last seconds that came after its frame was due, on the line of the base.
    private var peak: (transit: Int64, at: Int64)?

    init(initial: Int64, maximum: Int64, decay: Double, peakLifetime: Int64) {
        tolerance = min(initial, maximum)
        self.maximum = maximum
        self.decay = decay
        self.peakLifetime = peakLifetime
    }

    /// A frame with this transit came after it was due: the next ones are given as long as it took.
    mutating func handleLate(transit: Int64, base: Int64, at now: Int64) {
        let need = transit - base
        guard need <= maximum else { return }
        tolerance = max(tolerance, need)
        if let peak, peak.transit > transit, now - peak.at < peakLifetime { return }
        peak = (transit, now)
    }

    /// The earliest possible time moved; what is shown when stays as it was, and decays from there.
    mutating func handleBaseMoved(from old: Int64, to new: Int64) {
        tolerance = max(0, min(tolerance - (new - old), maximum))
    }

    /// - Parameter percentile: the 95th percentile of the transits, on the line of the base.
    mutating func update(percentile: Int64, base: Int64, at now: Int64) {
        if let peak, now - peak.at >= peakLifetime { self.peak = nil }
        let need = min(maximum, max(0, percentile - base, (peak?.transit ?? base) - base))
        let seconds = Double(now - (updated ?? now)) / 1_000_000
        updated = now
        let loss = max(Double(tolerance) * decay, Self.leastDecay) * min(seconds, 1)
        tolerance = max(need, tolerance - Int64(loss.rounded(.up)))
    }

    mutating func removePeak() {
        peak = nil
    }
}
