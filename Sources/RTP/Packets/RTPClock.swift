/// Converts between µs and RTP ticks with 64-bit integers, without overflow and without accumulating errors.
struct RTPClock: Sendable, Hashable {
    /// Ticks per second, at least 1.
    let rate: Int64

    init(rate: Int) {
        self.rate = Int64(max(rate, 1))
    }

    /// `microseconds` in ticks, rounded to the nearest. Whole seconds are converted separately, because µs since 1970
    /// times 90,000 do not fit into 64 bits.
    func ticks(ofMicroseconds microseconds: Int64) -> Int64 {
        Self.scale(microseconds, from: 1_000_000, to: rate)
    }

    /// `ticks` in µs, rounded to the nearest.
    func microseconds(ofTicks ticks: Int64) -> Int64 {
        Self.scale(ticks, from: rate, to: 1_000_000)
    }

    private static func scale(_ value: Int64, from: Int64, to: Int64) -> Int64 {
        var (whole, rest) = value.quotientAndRemainder(dividingBy: from)
        if rest < 0 {
            whole -= 1
            rest += from
        }
        return whole &* to &+ (rest * to + from / 2) / from
    }
}
