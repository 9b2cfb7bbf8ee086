import Foundation
import Glibc

/// What another process of ours takes of the machine's memory.
enum ProcessMemory {
    /// The second field of `/proc/PID/statm` (proc(5)), in bytes; `nil` when there is no such process.
    static func residentBytes(of process: pid_t) -> Int? {
        guard let text = FileManager.default.contents(atPath: "/proc/\(process)/statm"),
            let pages = String(decoding: text, as: UTF8.self).split(separator: " ").dropFirst().first.flatMap({
                Int($0)
            })
        else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
