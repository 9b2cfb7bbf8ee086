import Foundation

/// Wall time, for what crosses a wire; timers use the monotonic clock.
enum WallClock {
    /// µs since 1970.
    static func microseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
