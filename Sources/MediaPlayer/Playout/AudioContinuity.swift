/// Tracks where audible sound ends, so that a gap is concealed in time. All times are µs.
struct AudioContinuity {
    /// A shorter gap is not concealed.
    private static let leastGap: Int64 = 5_000

    /// After this much continuous concealment there is silence, and no more concealment is reported.
    private static let longestRun: Int64 = 1_000_000

    private var heardUntil: Int64?
    private var run: Int64 = 0

    /// When concealment starts if no sound comes.
    var deadline: Int64? { heardUntil }

    /// True if sound due at this time would start within what was already concealed.
    func isConcealed(at presentAt: Int64) -> Bool {
        guard let heardUntil, run > 0 else { return false }
        return presentAt < heardUntil - Self.leastGap
    }

    /// Sound is heard; returns the gap before it.
    mutating func hear(at presentAt: Int64, duration: Int64) -> (at: Int64, duration: Int64)? {
        defer {
            heardUntil = presentAt + duration
            run = 0
        }
        guard let heardUntil, presentAt - heardUntil > Self.leastGap else { return nil }
        return (heardUntil, presentAt - heardUntil)
    }

    /// Nothing came until now: conceals one frame's length, or the time until the next frame if that is known.
    mutating func conceal(duration: Int64, next: Int64?, at now: Int64) -> (at: Int64, duration: Int64)? {
        guard let begin = heardUntil, begin <= now else { return nil }
        let duration = min(duration, next.map { $0 - begin } ?? duration)
        guard duration > Self.leastGap else { return nil }
        guard run < Self.longestRun else {
            stop()
            return nil
        }
        run += duration
        heardUntil = begin + duration
        return (begin, duration)
    }

    mutating func stop() {
        heardUntil = nil
        run = 0
    }
}
