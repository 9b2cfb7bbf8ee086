/// Ties a source's clock to the wall clock, for sender reports.
///
/// All senders of one peer use the same anchor, so that their reports map sound and picture to one clock exactly,
/// however bursty or late the packets leave. It is made once, when the first packet leaves or a fresh frame is known.
public struct MediaClockAnchor: Sendable, Hashable {
    /// µs on the source's clock.
    public var pts: Int64

    /// The same instant: µs since 1970.
    public var wallClock: Int64

    public init(pts: Int64, wallClock: Int64) {
        self.pts = pts
        self.wallClock = wallClock
    }
}
