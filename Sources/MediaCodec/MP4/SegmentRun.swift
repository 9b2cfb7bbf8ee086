/// One track of a segment that grows: what comes with the next fragment, and what the closing part will say.
struct SegmentRun {
    let trackID: UInt32
    let timescale: Int64
    /// Where the track's media time line has the segment's start, in ticks.
    let origin: Int64
    /// Of the next fragment.
    private(set) var samples: [SegmentSample] = []
    private(set) var payload = SegmentPayload()
    /// Of all fragments before it.
    private(set) var table = SampleTable()

    init(trackID: UInt32, timescale: Int64, origin: Int64) {
        self.trackID = trackID
        self.timescale = timescale
        self.origin = origin
    }

    mutating func append(_ frame: SegmentFrame) {
        samples.append(frame.sample)
        payload.append(frame.bytes)
        for bytes in frame.otherBytes { payload.append(bytes) }
    }

    /// Whether the next fragment is at least this long, µs.
    func lasts(_ time: Int64) -> Bool { length >= ticks(time, timescale) }

    /// Whether no further sample brings the next fragment's length nearer to this one, µs.
    func isNearest(to time: Int64) -> Bool {
        length + (samples.last?.duration ?? 0) / 2 > ticks(time, timescale)
    }

    /// How long the next fragment is so far, in ticks.
    private var length: Int64 {
        guard let first = samples.first, let last = samples.last else { return 0 }
        return last.dts + last.duration - first.dts
    }

    /// The fragment is complete.
    ///
    /// - Parameter offset: where its bytes of this track are in the file; `nil` if no closing part will be written.
    mutating func endFragment(at offset: Int64?) {
        if let offset { table.append(samples, at: offset) }
        samples.removeAll(keepingCapacity: true)
        payload = SegmentPayload(like: payload)
    }
}
