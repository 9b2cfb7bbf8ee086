import IoTCore

/// Places a looped file's frames on one clock that never goes back.
///
/// Each round's first frame is due `loopGap` after the end of the previous round, however early it is decoded.
/// Receivers treat a jump of a second or more as a discontinuity. The gap is longer, so that all of them restart with
/// the new round.
struct LoopTimeline: Sendable {
    /// µs between the end of the last frame and the next round's first frame.
    static let loopGap: Int64 = 5_000_000

    /// µs.
    private static let latest: Int64 = 1 << 60

    /// The sum of all gaps, µs: they are on the clock, but not waited for.
    private(set) var gaps: Int64 = 0

    private var offset: Int64 = 0
    private var roundStart: Int64?
    private var roundEnd: Int64 = 0
    private var isFirstOfRound = false

    init() {}

    /// Returns `frame` on the camera's clock, which starts at 0.
    mutating func place(_ frame: MediaFrame) -> MediaFrame {
        if roundStart == nil {
            // The camera's clock starts with the first decoded frame. Limited, so that decoding times never go back.
            let lead = offset > 0 ? min(max(frame.pts - frame.dts, 0), Self.loopGap) : 0
            roundStart = frame.dts + lead
            isFirstOfRound = true
        }
        let shift = offset - (roundStart ?? 0)
        var placed = frame
        placed.pts += shift
        placed.dts += shift
        placed.isDiscontinuity = isFirstOfRound && offset > 0
        isFirstOfRound = false
        roundEnd = max(roundEnd, placed.pts)
        return placed
    }

    /// The file starts again; `frameInterval` is the duration of its last picture, in µs.
    mutating func beginRound(frameInterval: Int64) {
        guard roundStart != nil else { return }
        // A file's times cannot be trusted: after a round with a very late end, the clock restarts to prevent overflow.
        offset = (roundEnd < Self.latest ? roundEnd : 0) + frameInterval + Self.loopGap
        gaps += Self.loopGap
        roundStart = nil
    }
}
