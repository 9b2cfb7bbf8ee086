/// A track's place on its sender's wall clock, over a jump of the source's clock.
///
/// Frames from before a jump may still be held when the report from behind it is here already, and the other way
/// round: each frame goes by the report that is next to it.
struct SenderClock {
    /// µs; a frame so far ahead of the newest report belongs to a clock of which nothing is reported yet.
    static let reach: Int64 = 2_500_000

    private var reports: [(pts: Int64, offset: Int64)] = []

    init() {}

    /// The track's time `pts` was `offset` less than the sender's wall clock, µs.
    mutating func report(pts: Int64, offset: Int64) {
        if let last = reports.last, abs(last.offset - offset) < 500_000 {
            // Of one clock the first offset stays, so that frames keep their distances to the microsecond.
            reports[reports.count - 1].pts = pts
            return
        }
        if reports.count == 2 { reports.removeFirst() }
        reports.append((pts, offset))
    }

    /// µs on the sender's wall clock; `nil` while that is not known.
    func senderTime(pts: Int64) -> Int64? {
        guard let nearest = reports.min(by: { abs($0.pts - pts) < abs($1.pts - pts) }),
            pts - nearest.pts < Self.reach
        else { return nil }
        return pts + nearest.offset
    }
}
