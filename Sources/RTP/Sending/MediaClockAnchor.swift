/// Relates a source's clock to the wall clock, for sender reports.
///
/// All senders of one peer use the same anchor, so that their reports map audio and video to the same clock, however
/// bursty or late the packets are sent. It is created once, when the first packet is sent or a new frame is known.
public struct MediaClockAnchor: Sendable, Hashable {
    /// µs on the source's clock.
    public var pts: Int64

    /// The same instant in µs since 1970.
    public var wallClock: Int64

    public init(pts: Int64, wallClock: Int64) {
        self.pts = pts
        self.wallClock = wallClock
    }
}
