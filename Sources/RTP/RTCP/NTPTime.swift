/// A 64-bit NTP timestamp (RFC 3550 §4) as µs since 1970.
enum NTPTime {
    /// Seconds from 1900 to 1970.
    private static let epochOffset: Int64 = 2_208_988_800

    static func timestamp(microseconds: Int64) -> UInt64 {
        var (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        if rest < 0 {
            seconds -= 1
            rest += 1_000_000
        }
        let fraction = (UInt64(rest) << 32 + 500_000) / 1_000_000
        return UInt64(truncatingIfNeeded: seconds &+ epochOffset) << 32 &+ fraction
    }

    /// If the top bit of the seconds is clear, they belong to the era that begins in 2036 (RFC 4330 §3).
    static func microseconds(timestamp: UInt64) -> Int64 {
        var seconds = Int64(timestamp >> 32)
        if seconds < 0x8000_0000 { seconds += 0x1_0000_0000 }
        let microseconds = (timestamp & 0xFFFF_FFFF) * 1_000_000 + 0x8000_0000
        return (seconds - epochOffset) * 1_000_000 + Int64(microseconds >> 32)
    }

    /// The middle 32 bits, as in the LSR field.
    static func middle(_ timestamp: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: timestamp >> 16)
    }
}
