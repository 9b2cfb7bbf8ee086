/// Converts a device's time stamps to increasing times, in µs of CLOCK_MONOTONIC.
struct CaptureClock: Sendable {
    /// µs. An older stamp is wrong, because no device delays a picture for this long.
    private static let oldest: Int64 = 2_000_000

    private var last: Int64?

    /// - Parameters:
    ///   - stamp: the driver's time; `nil` if it uses another clock.
    ///   - now: the current time, which is used if the stamp is absent or wrong.
    mutating func place(_ stamp: Int64?, now: Int64) -> Int64 {
        var time = now
        if let stamp, stamp <= now, stamp > now - Self.oldest { time = stamp }
        if let last { time = max(time, last + 1) }
        last = time
        return time
    }
}

/// Limits the rate of pictures.
struct PictureRate: Sendable {
    private let interval: Int64
    private var due: Int64?

    /// - Parameter rate: pictures per second, greater than 0.
    init(_ rate: Double) {
        interval = Int64(1_000_000 / rate)
    }

    /// - Parameter time: µs.
    mutating func admits(_ time: Int64) -> Bool {
        // A picture may be early by a quarter of the interval, because of jitter.
        if let due, time < due - interval / 4 { return false }
        due = max((due ?? time) + interval, time + interval / 2)
        return true
    }
}
