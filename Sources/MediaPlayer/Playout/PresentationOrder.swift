/// Keeps what is shown in the order of its presentation times, whatever happens to the playout line between the
/// release of a picture and of those that are shown before it.
struct PresentationOrder {
    private static let remembered = 32

    private var shown: [(pts: Int64, presentAt: Int64)] = []
    private var floor = Int64.min

    /// When the picture may be shown: `wanted`, or as near to it as its neighbours allow; nil: not at all.
    ///
    /// - Parameter notBefore: shown before this is not shown.
    mutating func place(pts: Int64, wanted: Int64, notBefore: Int64 = .min) -> Int64? {
        var lower: (pts: Int64, presentAt: Int64)?
        var upper: (pts: Int64, presentAt: Int64)?
        for neighbour in shown {
            if neighbour.pts == pts { return nil }
            if neighbour.pts < pts, neighbour.pts > lower?.pts ?? Int64.min { lower = neighbour }
            if neighbour.pts > pts, neighbour.pts < upper?.pts ?? Int64.max { upper = neighbour }
        }
        let earliest = max(lower?.presentAt ?? Int64.min, floor).addingReportingOverflow(1).partialValue
        var latest = upper.map { $0.presentAt - 1 } ?? Int64.max
        if let lower, let upper, wanted > latest {
            // The line rose since the upper one's release: keep the place between the two.
            let share = Double(pts - lower.pts) / Double(upper.pts - lower.pts)
            latest = lower.presentAt + Int64(Double(upper.presentAt - lower.presentAt) * share)
        }
        guard earliest <= latest else { return nil }
        let placed = max(earliest, min(wanted, latest))
        guard placed >= notBefore else { return nil }
        shown.append((pts, placed))
        if shown.count > Self.remembered {
            let oldest = shown.indices.min { shown[$0].pts < shown[$1].pts } ?? 0
            floor = max(floor, shown[oldest].presentAt)
            shown.remove(at: oldest)
        }
        return placed
    }

    /// When a remembered picture is shown, as now reckoned.
    func presentTime(pts: Int64) -> Int64? {
        shown.last { $0.pts == pts }?.presentAt
    }

    /// What is not yet shown is shown later.
    mutating func postpone(after now: Int64, by amount: Int64) {
        for index in shown.indices where shown[index].presentAt > now {
            shown[index].presentAt += amount
        }
    }

    /// Presentation times begin anew; what follows is shown after what was.
    mutating func restart() {
        floor = shown.reduce(floor) { max($0, $1.presentAt) }
        shown = []
    }
}
