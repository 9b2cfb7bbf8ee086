import Foundation

/// This process, as Prometheus' own clients tell it.
enum ProcessMetrics {
    static func samples() -> [MetricSample] {
        var samples: [MetricSample] = []
        // proc(5): size and resident pages.
        if let fields = fields(of: "/proc/self/statm"), fields.count > 1, let size = Double(fields[0]),
            let resident = Double(fields[1])
        {
            let page = Double(sysconf(Int32(_SC_PAGESIZE)))
            samples.append(
                MetricSample(
                    "process_resident_memory_bytes", .gauge, resident * page, help: "Resident memory in bytes"))
            samples.append(
                MetricSample("process_virtual_memory_bytes", .gauge, size * page, help: "Virtual memory in bytes"))
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

    private static func fields(of path: String) -> [Substring]? {
        (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: " ")
    }
}
