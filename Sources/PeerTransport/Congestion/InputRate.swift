import NIOCore

/// The input rate in bits per second over the last second, in buckets of 100 ms.
struct InputRate: Sendable {
    private var buckets = Array(repeating: 0, count: 10)
    private var tick: Int64 = .min

    mutating func note(byteCount: Int, at now: NIODeadline) {
        advance(to: now)
        buckets[Int(tick % 10)] += byteCount
    }

    mutating func bitrate(at now: NIODeadline) -> Int {
        advance(to: now)
        return buckets.reduce(0, +) * 8
    }

    private mutating func advance(to now: NIODeadline) {
        let current = Int64(now.uptimeNanoseconds / 100_000_000)
        guard current > tick else { return }
        if tick == .min || current - tick >= 10 {
            buckets = Array(repeating: 0, count: 10)
        } else {
            for passed in (tick + 1)...current { buckets[Int(passed % 10)] = 0 }
        }
        tick = current
    }
}
