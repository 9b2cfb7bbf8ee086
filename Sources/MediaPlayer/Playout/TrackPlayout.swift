import IoTCore

/// The jitter buffer's state of one track. All times are µs.
struct TrackPlayout {
    let kind: MediaKind
    var held = HeldFrames()
    var transits: TransitWindow
    var decodingTimes: DecodingTimes

    /// Converts the track's own time to the common time line of both tracks: sender time = pts + offset.
    var offset: Int64 = 0

    /// The sender's wall clock − the track's time, from the last sender report.
    var reportOffset: Int64?

    /// The time that retransmissions need, estimated from the current loss rate; the tolerance is at least this.
    var recoveryTime: Int64 = 0

    /// The frame that came last.
    var last: (pts: Int64, transit: Int64)?

    /// The arrival and the transit time of the first of the frames that are later than the maximum tolerance; nil after
    /// a frame that is on time.
    var overdue: (since: Int64, transit: Int64)?

    init(kind: MediaKind, window: Int64) {
        self.kind = kind
        transits = TransitWindow(length: window)
        decodingTimes = DecodingTimes(depth: 0, interval: nil)
    }

    /// The minimum transit time of the last seconds, on the common time line, µs.
    var base: Int64? {
        transits.minimum.map { $0 - offset }
    }

    func senderTime(_ time: Int64, of frame: HeldFrame) -> Int64 {
        time + (frame.fixedOffset ?? offset)
    }
}
