/// Measures how far the picture lags behind the sound. All times are µs.
public struct SkewMeter: Sendable {
    /// Sound heard longer ago than this is not compared with.
    private static let staleAfter: Int64 = 1_000_000

    /// Shown − captured, of the last sound.
    private var sound: (line: Int64, at: Int64)?

    /// Positive: the picture comes after its sound. Nil before both were presented.
    public private(set) var last: Int64?

    /// The largest amount of it in either direction.
    public private(set) var maximum: Int64 = 0

    public init() {}

    /// - Parameters:
    ///   - sender: when it was captured, on the sender's wall clock.
    ///   - presented: when it is heard, on this machine's clock.
    public mutating func soundHeard(sender: Int64, presented: Int64) {
        sound = (presented &- sender, presented)
    }

    public mutating func pictureShown(sender: Int64, presented: Int64) {
        guard let sound, (presented &- sound.at).magnitude < UInt64(Self.staleAfter) else { return }
        let skew = (presented &- sender) &- sound.line
        last = skew
        maximum = max(maximum, Int64(clamping: skew.magnitude))
    }
}
