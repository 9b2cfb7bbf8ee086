import CMalloc
import Dispatch
import Foundation
import ServiceLifecycle

/// Returns freed memory to the system once a minute.
///
/// glibc keeps freed memory unless it is at the end of an arena: after a burst the process keeps its peak size,
/// although most of the memory is unused (`malloc_trim(3)`).
struct MemoryTrim: Service {
    /// Less is not worth the walk over the arenas, which blocks them, and is soon in use again.
    static let worthwhile = 32 << 20
    private static let interval = Duration.seconds(60)
    private static let queue = DispatchQueue(label: "memory.trim", qos: .utility)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var floor = 0
            while (try? await Task.sleep(for: Self.interval)) != nil {
                let last = floor
                // Trimming blocks for some milliseconds, so it runs outside the pool of tasks.
                floor = await withCheckedContinuation { continuation in
                    Self.queue.async { continuation.resume(returning: Self.trim(past: last)) }
                }
            }
        }
    }

    /// - Parameter floor: the unused bytes that malloc cannot return, as returned by the last call: stacks, and data of
    ///   the program's file.
    static func trim(past floor: Int) -> Int {
        let unused = unused()
        guard unused - floor >= worthwhile else { return min(floor, unused) }
        malloc_trim(0)
        return self.unused()
    }

    /// Bytes of memory that the process occupies but has not allocated.
    static func unused() -> Int {
        let allocated = mallinfo2()
        return (ProcessMetrics.memory()?.anonymous ?? 0) - Int(allocated.uordblks) - Int(allocated.hblkhd)
    }
}
