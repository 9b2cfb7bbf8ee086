import CClockState
import Foundation
import Synchronization

/// What the kernel knows of the machine's clocks.
package enum ClockState {
    /// Twice the second of the monotonic clock in which the kernel was asked last, and 1 if the clock was synchronised.
    private static let last = Atomic<Int64>(.min)

    /// Whether the wall clock is synchronised with a time server (adjtimex(2)). False where it cannot be asked. The kernel
    /// is asked once a second, because the call takes longer than all else that is done with a frame.
    ///
    /// - Parameter now: the monotonic clock, µs.
    package static func isSynchronised(at now: Int64) -> Bool {
        let second = now / 1_000_000
        let known = last.load(ordering: .relaxed)
        if known >> 1 == second { return known & 1 == 1 }
        let isSynchronised = isSynchronised()
        last.store(second << 1 | (isSynchronised ? 1 : 0), ordering: .relaxed)
        return isSynchronised
    }

    /// The same, asked now.
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
