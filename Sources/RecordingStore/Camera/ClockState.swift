import CClockState
import Foundation

/// What the kernel knows of the machine's clocks.
package enum ClockState {
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
