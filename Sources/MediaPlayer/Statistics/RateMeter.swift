import NIOCore

/// Measures bits per second over the last two seconds.
public struct RateMeter: Sendable {
    private static let slot: Int64 = 100_000
    private static let slots = 20

    private var counts = [Int](repeating: 0, count: RateMeter.slots)
    private var newest: Int64?
    private var oldest: Int64?

    public init() {}

    public mutating func add(bytes: Int, at microseconds: Int64) {
        let slot = microseconds / Self.slot
        advance(to: slot)
        counts[Int(slot % Int64(Self.slots))] += bytes
        oldest = oldest ?? slot
    }

    public mutating func bitsPerSecond(at microseconds: Int64) -> Double {
        guard let oldest else { return 0 }
        let slot = microseconds / Self.slot
        advance(to: slot)
        let covered = max(1, min(Int64(Self.slots), slot - oldest + 1))
        return Double(counts.reduce(0, +)) * 8 * 1_000_000 / Double(covered * Self.slot)
    }

    private mutating func advance(to slot: Int64) {
        guard let from = newest, slot > from else {
            newest = max(newest ?? slot, slot)
            return
        }
        for passed in (max(from + 1, slot - Int64(Self.slots) + 1))...slot {
            counts[Int(passed % Int64(Self.slots))] = 0
        }
        newest = slot
    }
}
