/// Detects that nothing new is shown. All times are µs.
struct StallDetector {
    private let threshold: Int64
    private var shownAt: Int64?
    private(set) var isStalled = false

    init(threshold: Int64) {
        self.threshold = threshold
    }

    /// Returns true if this ends a stall.
    mutating func shown(at presentAt: Int64) -> Bool {
        shownAt = max(shownAt ?? presentAt, presentAt)
        defer { isStalled = false }
        return isStalled
    }

    /// Something else is shown from then on. Before the first frame, this has no effect.
    mutating func restart(at presentAt: Int64) {
        guard shownAt != nil else { return }
        shownAt = presentAt
        isStalled = false
    }

    func deadline(interval: Int64) -> Int64? {
        guard let shownAt, !isStalled else { return nil }
        return shownAt + max(threshold, 3 * interval)
    }

    /// Returns true when a stall begins.
    mutating func update(interval: Int64, at now: Int64) -> Bool {
        guard let deadline = deadline(interval: interval), now >= deadline else { return false }
        isStalled = true
        return true
    }
}
