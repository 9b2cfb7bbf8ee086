/// The wall times of one camera's frames, and where its runs begin. A value without I/O: the recorder gives it both of the
/// machine's clocks with each frame.
package struct RunClock: Sendable {
    /// What to do with a frame.
    package enum Verdict: Sendable, Hashable {
        /// The frame was captured at this time, in µs since 1970.
        case `continue`(wall: Int64)
        /// Likewise, but it begins another run, in a new segment.
        case begin(RunFacts, wall: Int64)
    }

    /// A wall clock that moves further than this against the monotonic clock was set.
    package static let step: Int64 = 2_000_000
    /// A camera's clock that moves further than this against its frames' arrival jumped.
    private static let jump: Int64 = 10_000_000

    private let boot: String
    private var run: RunFacts?
    private var media = MediaClock()
    private var last: (media: Int64, arrival: Int64, wall: Int64)?

    /// - Parameter boot: the kernel's id of this boot.
    package init(boot: String) {
        self.boot = boot
    }

    /// - Parameters:
    ///   - time: the frame's decoding time on the camera's clock, µs.
    ///   - now: both clocks when it arrived.
    ///   - isSynchronised: whether the wall clock is (adjtimex(2)).
    ///   - isBreak: whether the source says that its clock has a break here.
    package mutating func take(
        frame time: Int64, now: Moment, isSynchronised: Bool, isBreak: Bool = false
    ) -> Verdict {
        if let reason = endOfRun(time, now, isSynchronised, isBreak) {
            let facts = RunFacts(
                boot: boot, monotonicStart: now.monotonic, wallAnchor: now.wall,
                quality: isSynchronised ? .synchronised : .unsynchronised, previousEnd: reason)
            run = facts
            media.reset()
            _ = media.time(ofFrame: time, arrival: now.monotonic)
            last = (time, now.monotonic, now.wall)
            return .begin(facts, wall: now.wall)
        }
        guard let run, let before = last else { return .continue(wall: now.wall) }
        let sent = media.time(ofFrame: time, arrival: now.monotonic)
        // Slewing (adjtimex(2)) moves both clocks alike; what is left of it is below a step, and ends with the run.
        let wall = max(before.wall, run.wallAnchor + sent - run.monotonicStart)
        last = (time, now.monotonic, wall)
        return .continue(wall: wall)
    }

    private func endOfRun(_ time: Int64, _ now: Moment, _ isSynchronised: Bool, _ isBreak: Bool) -> RunEnd? {
        guard let run, let last else { return .stopped }
        if abs((now.wall - now.monotonic) - (run.wallAnchor - run.monotonicStart)) > Self.step { return .clockStep }
        // From now on the times are right; those before are corrected afterwards.
        if isSynchronised, run.quality == .unsynchronised { return .clockStep }
        let passed = now.monotonic - last.arrival
        let isJump = isBreak || time < last.media - Self.jump || abs(time - last.media - passed) > Self.jump
        return isJump ? .mediaJump : nil
    }
}
