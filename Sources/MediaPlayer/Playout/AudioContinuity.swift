/// Where heard sound ends, so that a hole is concealed in time. All times are µs.
struct AudioContinuity {
    /// What is less than this is no hole.
    private static let leastGap: Int64 = 5_000

    /// After this much concealment in one piece there is silence, and no more is said.
    private static let longestRun: Int64 = 1_000_000

    private var heardUntil: Int64?
    private var run: Int64 = 0

    /// When concealment begins if no sound comes.
    var deadline: Int64? { heardUntil }

    /// Sound due then would begin inside what was concealed already.
    func isConcealed(at presentAt: Int64) -> Bool {
        guard let heardUntil, run > 0 else { return false }
        return presentAt < heardUntil - Self.leastGap
    }

    /// Sound is heard; returns the hole before it.
    mutating func hear(at presentAt: Int64, duration: Int64) -> (at: Int64, duration: Int64)? {
        defer {
            heardUntil = presentAt + duration
            run = 0
        }
        guard let heardUntil, presentAt - heardUntil > Self.leastGap else { return nil }
        return (heardUntil, presentAt - heardUntil)
    }

    /// Nothing came until now: one frame's length is concealed, or what lies before the next frame, when that is
    /// known.
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
