/// Derives decoding times from presentation times, because RTP carries only the latter.
///
/// The n-th picture in decoding order is decoded when the (n − depth)-th picture in output order is shown, because at
/// most `depth` later pictures precede it in decoding order. So decoding times always increase and never exceed the
/// presentation time.
struct DecodingTimes {
    private let depth: Int
    private let frameDuration: Int64
    private var window: [Int64] = []
    private var last: Int64?

    /// Pictures with times that did not fit the depth and were changed.
    private(set) var adjusted = 0

    init(depth: Int, frameDuration: Int64) {
        self.depth = max(0, min(16, depth))
        self.frameDuration = max(1, frameDuration)
    }

    /// - Parameter pts: The presentation times in decoding order, in ticks.
    /// - Returns: A dts that is greater than the last one, and the pts, which is only changed if it is earlier than the
    ///   dts.
    mutating func place(_ pts: Int64) -> (pts: Int64, dts: Int64) {
        if last == nil {
            window = (0..<depth).map { pts - Int64(depth - $0) * frameDuration }
        }
        let index = window.firstIndex { $0 > pts } ?? window.count
        window.insert(pts, at: index)
        var dts = window.removeFirst()
        if let last, dts <= last { dts = last + 1 }
        last = dts
        guard pts < dts else { return (pts, dts) }
        adjusted += 1
        return (dts, dts)
    }
}
