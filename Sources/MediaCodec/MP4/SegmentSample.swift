/// What a segment says of one coded frame, with times in ticks of its track from the segment's start.
struct SegmentSample {
    var byteCount: Int
    var pts: Int64
    var dts: Int64
    var duration: Int64
    var isKey: Bool
    /// The wall-clock time at which `pts` was captured, µs since 1970.
    var wallClock: Int64
}
