public import struct NIOCore.TimeAmount

/// Exponential back-off with full jitter: the nth pause is uniform over 0 to min(cap, base × 2ⁿ). `recover` takes
/// doublings back.
public struct FullJitterBackoff: Sendable {
    public let base: TimeAmount
    public let cap: TimeAmount
    private var ceiling: TimeAmount

    public init(base: TimeAmount = .milliseconds(200), cap: TimeAmount = .seconds(30)) {
        self.base = base
        self.cap = cap
        ceiling = min(base, cap)
    }

    public mutating func next(using generator: inout some RandomNumberGenerator) -> TimeAmount {
        let pause = TimeAmount.nanoseconds(Int64.random(in: 0...max(0, ceiling.nanoseconds), using: &generator))
        ceiling = ceiling.nanoseconds > cap.nanoseconds / 2 ? cap : .nanoseconds(ceiling.nanoseconds * 2)
        return pause
    }

    /// Halves the longest next pause `halvings` times, but not below that of the first pause.
    public mutating func recover(halvings: Int64) {
        let rest = halvings < 63 ? ceiling.nanoseconds >> max(0, halvings) : 0
        ceiling = max(min(base, cap), .nanoseconds(rest))
    }

    public mutating func reset() {
        ceiling = min(base, cap)
    }
}
