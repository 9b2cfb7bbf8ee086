import Foundation
import Gateway

/// Metrics of this process, named as by Prometheus' own client libraries.
enum ProcessMetrics {
    static func samples() -> [MetricSample] {
        var samples: [MetricSample] = []
        if let memory = memory() {
            samples.append(
                MetricSample(
                    "process_resident_memory_bytes", .gauge, Double(memory.resident), help: "Resident memory in bytes"))
            samples.append(
                MetricSample(
                    "process_virtual_memory_bytes", .gauge, Double(memory.size), help: "Virtual memory in bytes"))
        }
        if let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            samples.append(MetricSample("process_open_fds", .gauge, Double(names.count), help: "Open descriptors"))
        }
        var usage = rusage()
        if getrusage(Int32(RUSAGE_SELF.rawValue), &usage) == 0 {
            let seconds =
                Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
                + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
            samples.append(
                MetricSample("process_cpu_seconds_total", .counter, seconds, help: "User and system time in seconds"))
        }
        return samples
    }

    /// In bytes: the address space, its part in memory, and the part of that which does not belong to files.
    static func memory() -> (size: Int, resident: Int, anonymous: Int)? {
        // proc(5), statm: size, resident and shared pages. Pages of files are shared.
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let pages = text.split(separator: " ").prefix(3).compactMap { Int($0) }
        guard pages.count == 3 else { return nil }
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        return (pages[0] * page, pages[1] * page, (pages[1] - pages[2]) * page)
    }
}
