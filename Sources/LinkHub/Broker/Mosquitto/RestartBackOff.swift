/// The delay before a broker that ended is started again: none after a long run, otherwise 50 ms, doubling to 5 s.
struct RestartBackOff: Sendable {
    /// A broker that ran this long counts as healthy.
    static let healthyAfter = Duration.seconds(10)
    static let first = Duration.milliseconds(50)
    static let longest = Duration.seconds(5)

    private(set) var failures = 0

    mutating func delay(afterRunning lifetime: Duration) -> Duration {
        if lifetime >= Self.healthyAfter {
            failures = 0
            return .zero
        }
        failures += 1
        guard failures <= 8 else { return Self.longest }
        return min(Self.longest, Self.first * (1 << (failures - 1)))
    }
}
