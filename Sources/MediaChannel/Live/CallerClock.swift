/// Places the frames of one track of a live call on the camera's clock, by their arrival: a frame that takes the least
/// time on its way has the time of its arrival. A value without I/O.
///
/// Sound and picture of a caller come from clocks that nothing relates, so what arrives together belongs together.
struct CallerClock {
    /// A frame that is later than this, in µs, restarts the clock: the caller's source has restarted.
    static let limit: Int64 = 2_000_000

    private var offset: Int64?

    /// - Parameters:
    ///   - pts: The frame's time on the caller's clock, µs.
    ///   - arrival: When it arrived, µs on the camera's clock.
    /// - Returns: The frame's time on the camera's clock, µs, and whether the caller's clock has jumped.
    mutating func place(_ pts: Int64, arrival: Int64) -> (pts: Int64, hasJumped: Bool) {
        let placed = offset.map { pts &+ $0 }
        if let placed, (arrival &- Self.limit...arrival).contains(placed) { return (placed, false) }
        offset = arrival &- pts
        return (arrival, placed.map { ($0 &- arrival).magnitude > Self.limit } ?? false)
    }
}
