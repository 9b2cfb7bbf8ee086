import Foundation
import Glibc

/// The memory use of another process of this account.
enum ProcessMemory {
    /// The second field of `/proc/PID/statm` (proc(5)), in bytes; `nil` if the process does not exist.
    static func residentBytes(of process: pid_t) -> Int? {
        guard let text = FileManager.default.contents(atPath: "/proc/\(process)/statm"),
            let pages = String(decoding: text, as: UTF8.self).split(separator: " ").dropFirst().first.flatMap({
                Int($0)
            })
        else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
