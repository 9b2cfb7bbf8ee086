/// Places the frames of one track of a live call on the camera's clock, by their arrival: in the long run, a frame that
/// takes the least time on its way has the time of its arrival. A value without I/O.
///
/// Sound and picture of a caller come from clocks that nothing relates, so what arrives together belongs together. The
/// times of consecutive frames stay almost as far apart as they were, because they are also the order of the pictures.
struct CallerClock {
    /// A frame that is later or earlier than this, in µs, restarts the clock: the caller's source has restarted.
    static let limit: Int64 = 2_000_000
    /// How long the least delay is measured before the clock follows it, µs.
    static let window: Int64 = 2_000_000
    /// The clock changes at most by this part of the time. At first it changes faster, because a first frame that came
    /// late would put sound and picture apart for long.
    private static let slowness: (first: Int64, later: Int64) = (10, 100)
    /// How long the clock changes faster, µs: two measurements, and the change that the first of them asks for.
    private static let first: Int64 = 20_000_000

    private var offset: Int64?
    private var begin: Int64 = 0
    private var last: Int64 = 0
    /// What the clock still has to change, µs.
    private var rest: Int64 = 0
    /// The least delay since then, µs.
    private var window: (begin: Int64, least: Int64) = (0, .max)

    /// - Parameters:
    ///   - pts: The frame's time on the caller's clock, µs.
    ///   - arrival: When it arrived, µs on the camera's clock.
    /// - Returns: The frame's time on the camera's clock, µs, and whether the caller's clock has jumped.
    mutating func place(_ pts: Int64, arrival: Int64) -> (pts: Int64, hasJumped: Bool) {
        guard let placed = offset.map({ pts &+ $0 }),
            (arrival &- Self.limit...arrival &+ Self.limit).contains(placed)
        else {
            defer { self = CallerClock(offset: arrival &- pts, begin: arrival, last: arrival, window: (arrival, .max)) }
            return (arrival, offset != nil)
        }
        follow(arrival &- placed, at: arrival)
        return (placed, false)
    }

    private mutating func follow(_ delay: Int64, at arrival: Int64) {
        let slowness = arrival &- begin < Self.first ? Self.slowness.first : Self.slowness.later
        let most = max(0, arrival &- last) / slowness
        let step = min(max(rest, -most), most)
        offset = offset.map { $0 &+ step }
        rest -= step
        last = arrival
        // Both as they are after the change.
        window.least = min(window.least, delay) &- step
        guard arrival &- window.begin >= Self.window else { return }
        rest = window.least
        window = (arrival, .max)
    }
}
