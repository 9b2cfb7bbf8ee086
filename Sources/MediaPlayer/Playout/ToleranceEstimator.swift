/// Estimates the jitter that the delay is sized for, in µs: it rises at once and falls slowly.
struct ToleranceEstimator {
    private let maximum: Int64
    private let decay: Double
    private let peakLifetime: Int64

    /// The tolerance may always fall by this much per second, µs.
    private static let leastDecay = 5_000.0

    /// How much it may rise towards a floor per unit of time. Viewers do not notice a slowdown of this size.
    private static let rise = 0.05

    private(set) var tolerance: Int64
    private var updated: Int64?

    /// The largest transit time of a late frame in the last seconds, on the common time line.
    private var peak: (transit: Int64, at: Int64)?

    init(initial: Int64, maximum: Int64, decay: Double, peakLifetime: Int64) {
        tolerance = min(initial, maximum)
        self.maximum = maximum
        self.decay = decay
        self.peakLifetime = peakLifetime
    }

    /// A frame with this transit time came after it was due: the next frames get as much time.
    mutating func handleLate(transit: Int64, base: Int64, at now: Int64) {
        let need = transit - base
        guard need <= maximum else { return }
        tolerance = max(tolerance, need)
        if let peak, peak.transit > transit, now - peak.at < peakLifetime { return }
        peak = (transit, now)
    }

    /// The earliest possible time moved: presentation times stay, and the tolerance decays from there.
    mutating func handleBaseMoved(from old: Int64, to new: Int64) {
        tolerance = max(0, min(tolerance - (new - old), maximum))
    }

    /// - Parameters:
    ///   - percentile: the 95th percentile of the transit times, on the common time line.
    ///   - floor: the tolerance rises to this even if no frame was that late: slowly, because nothing is waiting for
    ///     it.
    mutating func update(percentile: Int64, base: Int64, floor: Int64 = 0, at now: Int64) {
        if let peak, now - peak.at >= peakLifetime { self.peak = nil }
        let need = min(maximum, max(0, percentile - base, (peak?.transit ?? base) - base))
        let seconds = Double(now - (updated ?? now)) / 1_000_000
        updated = now
        let floor = min(floor, maximum)
        guard tolerance >= floor else {
            tolerance = max(need, min(floor, tolerance + Int64(Self.rise * min(seconds, 1) * 1_000_000)))
            return
        }
        let loss = max(Double(tolerance) * decay, Self.leastDecay) * min(seconds, 1)
        tolerance = max(need, floor, tolerance - Int64(loss.rounded(.up)))
    }

    /// Raises the tolerance at once: nothing is played yet that would have to stand still meanwhile.
    mutating func raise(to floor: Int64) {
        tolerance = max(tolerance, min(floor, maximum))
    }

    mutating func removePeak() {
        peak = nil
    }
}
