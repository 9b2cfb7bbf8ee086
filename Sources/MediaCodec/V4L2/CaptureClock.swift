/// Places a device's time stamps on one clock that never goes back. In µs of CLOCK_MONOTONIC.
struct CaptureClock: Sendable {
    /// A stamp that is older than this is wrong: no device holds a picture for so long.
    private static let oldest: Int64 = 2_000_000

    private var last: Int64?

    /// - Parameters:
    ///   - stamp: the driver's time; `nil` if it uses another clock.
    ///   - now: the current time, which applies if the stamp is absent or wrong.
    mutating func place(_ stamp: Int64?, now: Int64) -> Int64 {
        var time = now
        if let stamp, stamp <= now, stamp > now - Self.oldest { time = stamp }
        if let last { time = max(time, last + 1) }
        last = time
        return time
    }
}

/// Admits pictures up to a rate.
struct PictureRate: Sendable {
    private let interval: Int64
    private var due: Int64?

    /// - Parameter rate: pictures a second, greater than 0.
    init(_ rate: Double) {
        interval = Int64(1_000_000 / rate)
    }

    /// - Parameter time: µs.
    mutating func admits(_ time: Int64) -> Bool {
        // A quarter of an interval is jitter.
        if let due, time < due - interval / 4 { return false }
        due = max((due ?? time) + interval, time + interval / 2)
        return true
    }
}
