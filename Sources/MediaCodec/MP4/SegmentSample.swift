import NIOCore

/// One coded frame on its way into a segment, with times in ticks of its track from the segment's start.
struct SegmentSample {
    var bytes: [ByteBuffer]
    var byteCount: Int
    var pts: Int64
    var dts: Int64
    var duration: Int64
    var isKey: Bool
    /// The wall-clock time at which `pts` was captured, µs since 1970.
    var wallClock: Int64

    init(_ bytes: [ByteBuffer], pts: Int64, dts: Int64, duration: Int64, isKey: Bool, wallClock: Int64) {
        self.bytes = bytes
        byteCount = bytes.reduce(0) { $0 + $1.readableBytes }
        self.pts = pts
        self.dts = dts
        self.duration = duration
        self.isKey = isKey
        self.wallClock = wallClock
    }
}
