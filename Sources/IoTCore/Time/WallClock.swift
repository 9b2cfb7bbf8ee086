import Glibc

/// Wall-clock time, for values that other machines read: `t` fields, deadlines, tokens and sender reports. Timers use
/// `NIODeadline`.
public enum WallClock {
    /// µs since 1970.
    @Sendable public static func microseconds() -> Int64 {
        var time = timespec(tv_sec: 0, tv_nsec: 0)
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    /// ms since 1970.
    public static func milliseconds() -> Int64 {
        microseconds() / 1_000
    }

    /// Whole seconds since 1970.
    @Sendable public static func seconds() -> Int64 {
        microseconds() / 1_000_000
    }
}
