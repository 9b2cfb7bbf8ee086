import NIOCore

/// Follows the drift between a source's clock and the wall clock. A crystal's error of 100 ppm is 0.36 s in an hour.
struct ClockDrift: Sendable {
    typealias Anchor = (pts: Int64, wall: Int64)

    static let interval = TimeAmount.seconds(60)
    /// In µs. Smaller changes are left out.
    static let tolerance: Int64 = 1_000

    private var current: Anchor?
    private var since = NIODeadline.distantPast
    /// The frame with the least delay since then: a late frame would move the clock.
    private var earliest: Anchor?

    mutating func begin(_ anchor: Anchor, _ now: NIODeadline) {
        (current, since, earliest) = (anchor, now, nil)
    }

    /// - Parameter frame: A key frame, because other frames may come in another order than they are shown.
    /// - Returns: The new anchor, if the clocks have drifted apart.
    mutating func anchor(_ frame: Anchor, _ now: NIODeadline) -> Anchor? {
        func delay(_ anchor: Anchor) -> Int64 { anchor.wall &- anchor.pts }
        if earliest.map({ delay(frame) < delay($0) }) ?? true { earliest = frame }
        guard now - since >= Self.interval, let current, let found = earliest else { return nil }
        (since, earliest) = (now, nil)
        return (delay(found) &- delay(current)).magnitude >= Self.tolerance.magnitude ? found : nil
    }
}
