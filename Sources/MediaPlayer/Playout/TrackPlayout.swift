import IoTCore

/// What the jitter buffer knows of one track. All times are µs.
struct TrackPlayout {
    let kind: MediaKind
    var held = HeldFrames()
    var transits: TransitWindow
    var decodingTimes: DecodingTimes

    /// Puts the track's own time on the line that both tracks share: sender time = pts + offset.
    var offset: Int64 = 0

    /// The sender's wall clock − the track's time, by the last sender report.
    var reportOffset: Int64?

    /// How late a frame may be of which a packet is lost, by the track's present losses.
    var recoveryTime: Int64 = 0

    /// The frame that came last.
    var last: (pts: Int64, transit: Int64)?

    /// Since when every frame came late, the first of them too late for any delay, with that one's transit.
    var hopeless: (since: Int64, transit: Int64)?

    init(kind: MediaKind, window: Int64) {
        self.kind = kind
        transits = TransitWindow(length: window)
        decodingTimes = DecodingTimes(depth: 0, interval: nil)
    }

    /// The least transit of the last seconds, on the common line.
    var base: Int64? {
        transits.minimum.map { $0 - offset }
    }

    func senderTime(_ time: Int64, of frame: HeldFrame) -> Int64 {
        time + (frame.fixedOffset ?? offset)
    }
}
