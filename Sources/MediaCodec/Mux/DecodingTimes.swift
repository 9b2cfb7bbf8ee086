/// Derives decoding times from presentation times alone, as a receiver of RTP must.
///
/// The n-th picture in decoding order is decoded when the (n − depth)-th in output order is shown: by then at most
/// `depth` later ones may stand before it. So decoding times only grow and never pass the presentation time.
struct DecodingTimes {
    private let depth: Int
    private let frameDuration: Int64
    private var window: [Int64] = []
    private var last: Int64?

    /// Pictures whose times did not fit the depth and were moved.
    private(set) var adjusted = 0

    init(depth: Int, frameDuration: Int64) {
        self.depth = max(0, min(16, depth))
        self.frameDuration = max(1, frameDuration)
    }

    /// The same on another clock, before the first picture.
    func scaled(frameDuration: Int64) -> DecodingTimes {
        DecodingTimes(depth: depth, frameDuration: frameDuration)
    }

    /// - Parameter pts: In decoding order, in ticks.
    /// - Returns: A dts greater than the last one's, and the pts, which is moved only when it lies before that.
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
