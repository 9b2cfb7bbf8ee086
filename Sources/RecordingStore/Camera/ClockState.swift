import CClockState
import Foundation
import Synchronization

/// What the kernel knows of the machine's clocks.
package enum ClockState {
    /// Twice the second of the monotonic clock in which the kernel was asked last, and 1 if the clock was synchronised.
    private static let last = Atomic<Int64>(.min)
    /// What the wall clock was ahead of the monotonic clock then, µs.
    private static let lead = Atomic<Int64>(0)

    /// Both of the machine's clocks, and whether the wall clock is synchronised, for each of many frames. What the wall clock
    /// is ahead of the monotonic one is asked once a second, because these calls take longer than all else that is done with
    /// a frame: a clock that is set is noticed as late, and the pace of one that is slewed (adjtimex(2)) changes the result
    /// by less than a millisecond.
    package static func now() -> (now: Moment, isSynchronised: Bool) {
        let monotonic = Moment.monotonic()
        let second = monotonic / 1_000_000
        // Whoever sees this second sees its lead, too.
        let known = last.load(ordering: .acquiring)
        if known >> 1 == second {
            return (Moment(monotonic: monotonic, wall: monotonic + lead.load(ordering: .relaxed)), known & 1 == 1)
        }
        let now = Moment.now()
        let isSynchronised = isSynchronised()
        lead.store(now.wall - now.monotonic, ordering: .relaxed)
        last.store(second << 1 | (isSynchronised ? 1 : 0), ordering: .releasing)
        return (now, isSynchronised)
    }

    /// Whether the wall clock is synchronised with a time server (adjtimex(2)). False where it cannot be asked.
    package static func isSynchronised() -> Bool {
        // `modes` is 0: nothing is changed.
        var state = timex()
        let answer = adjtimex(&state)
        return answer >= 0 && answer != TIME_ERROR && state.status & STA_UNSYNC == 0
    }

    /// The kernel's id of this boot: the monotonic clock of another boot cannot be compared.
    package static func bootID() -> String {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }
}
