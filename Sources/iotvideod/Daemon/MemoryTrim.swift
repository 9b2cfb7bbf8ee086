import CMalloc
import Dispatch
import Foundation
import ServiceLifecycle

/// Gives memory that is free again back to the system, once a minute.
///
/// glibc keeps what its arenas have freed, unless it lies at an arena's end: after a burst the process stays as large as
/// the burst was, though most of it is unused (`malloc_trim(3)`).
struct MemoryTrim: Service {
    /// Less is not worth the walk over the arenas, which stop for it, and comes back into use soon.
    static let worthwhile = 32 << 20
    private static let interval = Duration.seconds(60)
    private static let queue = DispatchQueue(label: "memory.trim", qos: .utility)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var floor = 0
            while (try? await Task.sleep(for: Self.interval)) != nil {
                let last = floor
                // It takes some milliseconds without a pause: not on the pool of the tasks.
                floor = await withCheckedContinuation { continuation in
                    Self.queue.async { continuation.resume(returning: Self.trim(past: last)) }
                }
            }
        }
    }

    /// - Parameter floor: the unused bytes that are not malloc's to give back, as the last call returned it: stacks, and
    ///   data that the program's file brought.
    static func trim(past floor: Int) -> Int {
        let unused = unused()
        guard unused - floor >= worthwhile else { return min(floor, unused) }
        malloc_trim(0)
        return self.unused()
    }

    /// Bytes of memory that the process occupies and has not allocated.
    static func unused() -> Int {
        let allocated = mallinfo2()
        return (ProcessMetrics.memory()?.anonymous ?? 0) - Int(allocated.uordblks) - Int(allocated.hblkhd)
    }
}
