import IoTCore

/// Places a looped file's frames on one clock that never goes back.
///
/// Each round's first frame is due `loopGap` behind the end of the one before, however far ahead it is decoded. The gap
/// is longer than the second from which every receiver treats a jump as a discontinuity, so that all of them start the
/// new round afresh.
struct LoopTimeline: Sendable {
    /// µs between the last frame's end and the next round's first frame.
    static let loopGap: Int64 = 5_000_000

    /// µs.
    private static let latest: Int64 = 1 << 60

    /// All gaps together, µs: on the clock, but not waited for.
    private(set) var gaps: Int64 = 0

    private var offset: Int64 = 0
    private var roundStart: Int64?
    private var roundEnd: Int64 = 0
    private var isFirstOfRound = false

    init() {}

    /// `frame` on the camera's clock, which begins at 0.
    mutating func place(_ frame: MediaFrame) -> MediaFrame {
        if roundStart == nil {
            // The clock itself begins with what is decoded first. Bounded, so that decoding never goes back.
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

    /// The file begins again; `frameInterval` is how long its last picture stays, in µs.
    mutating func beginRound(frameInterval: Int64) {
        guard roundStart != nil else { return }
        // A round's times are a stranger's: rounds that reach so far begin anew, lest the clock overflow.
        offset = (roundEnd < Self.latest ? roundEnd : 0) + frameInterval + Self.loopGap
        gaps += Self.loopGap
        roundStart = nil
    }
}
