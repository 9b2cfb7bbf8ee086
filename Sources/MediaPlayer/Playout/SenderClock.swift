/// Maps a track's times to its sender's wall clock, also across a jump of the source's clock.
///
/// Frames from before a jump may still be held when the first report after it arrives, and vice versa: each frame uses
/// the report that is nearest to it.
struct SenderClock {
    /// µs; a frame further ahead of the newest report belongs to a clock that was not yet reported.
    static let reach: Int64 = 2_500_000

    private var reports: [(pts: Int64, offset: Int64)] = []

    init() {}

    /// The track's time `pts` was `offset` less than the sender's wall clock, µs.
    mutating func report(pts: Int64, offset: Int64) {
        if let last = reports.last, abs(last.offset - offset) < 500_000 {
            // While the clock is the same, the first offset stays, so that frames keep their exact distances.
            reports[reports.count - 1].pts = pts
            return
        }
        if reports.count == 2 { reports.removeFirst() }
        reports.append((pts, offset))
    }

    /// µs on the sender's wall clock; `nil` while that is unknown.
    func senderTime(pts: Int64) -> Int64? {
        guard let nearest = reports.min(by: { abs($0.pts - pts) < abs($1.pts - pts) }),
            pts - nearest.pts < Self.reach
        else { return nil }
        return pts + nearest.offset
    }
}
