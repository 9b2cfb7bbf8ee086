/// Converts `time` from µs to ticks, rounded to the nearest.
func ticks(_ time: Int64, _ ticksPerSecond: Int64) -> Int64 {
    let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000)
    let part = rest * ticksPerSecond
    return seconds &* ticksPerSecond &+ (part + (part < 0 ? -500_000 : 500_000)) / 1_000_000
}

/// Converts ticks to µs, rounded to the nearest.
func microseconds(_ ticks: Int64, _ ticksPerSecond: Int64) -> Int64 {
    let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: ticksPerSecond)
    let part = rest * 1_000_000
    let half = ticksPerSecond / 2
    return seconds &* 1_000_000 &+ (part + (part < 0 ? -half : half)) / ticksPerSecond
}
