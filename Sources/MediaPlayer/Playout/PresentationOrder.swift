/// Keeps shown pictures in the order of their presentation times, even if the playout clock changes between the release
/// of a picture and the release of pictures that are shown before it.
struct PresentationOrder {
    private static let remembered = 32

    private var shown: [(pts: Int64, presentAt: Int64)] = []
    private var floor = Int64.min

    /// When the picture may be shown: at `wanted`, or as near to it as its neighbours allow. Nil: it is not shown.
    ///
    /// - Parameter notBefore: a picture that would be shown before this time is not shown.
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
            // The delay rose after the upper neighbour's release: keep the picture between the two.
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

    /// When a remembered picture is shown, as currently calculated.
    func presentTime(pts: Int64) -> Int64? {
        shown.last { $0.pts == pts }?.presentAt
    }

    /// Pictures that are not yet shown are shown later.
    mutating func postpone(after now: Int64, by amount: Int64) {
        for index in shown.indices where shown[index].presentAt > now {
            shown[index].presentAt += amount
        }
    }

    /// Presentation times restart; the following pictures are shown after the earlier ones.
    mutating func restart() {
        floor = shown.reduce(floor) { max($0, $1.presentAt) }
        shown = []
    }
}
