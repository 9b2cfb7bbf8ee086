/// Derives decoding times from presentation times in decoding order, because RTP carries none, and measures the
/// interval between frames.
///
/// A decoder that reorders over `depth` frames outputs a picture when it has received the frame with that picture's
/// presentation time as its decoding time. The n-th decoding time is the n-th smallest presentation time, moved back
/// by `depth` frames: it is the smallest of the `depth` + 1 largest presentation times so far.
struct DecodingTimes {
    private static let maximumDepth = 16

    private(set) var depth: Int

    /// µs; never 0.
    private(set) var interval: Int64
    private var isIntervalMeasured: Bool

    /// The `depth` + 1 largest presentation times so far, ascending.
    private var largest: [Int64] = []
    private var last: Int64?

    init(depth: Int, interval: Int64?) {
        self.depth = max(0, min(depth, Self.maximumDepth))
        self.interval = max(1_000, interval ?? 40_000)
        isIntervalMeasured = interval != nil
    }

    mutating func setDepth(_ newDepth: Int) {
        depth = max(0, min(newDepth, Self.maximumDepth))
        while largest.count > depth + 1 { largest.removeFirst() }
    }

    mutating func setInterval(_ newInterval: Int64) {
        interval = max(1_000, newInterval)
        isIntervalMeasured = true
    }

    /// The decoding time of the next frame in decoding order.
    mutating func next(pts: Int64) -> Int64 {
        if let smallest = largest.first, pts < smallest, largest.count > depth, depth < Self.maximumDepth {
            // More frames are reordered than the stream's parameters say, or they do not say.
            depth += 1
        }
        let place = largest.firstIndex { $0 > pts } ?? largest.endIndex
        largest.insert(pts, at: place)
        while largest.count <= depth {
            largest.insert((largest.first ?? pts) - interval, at: 0)
        }
        while largest.count > depth + 1 { largest.removeFirst() }
        let time = min(largest.first ?? pts, pts)
        measure(time)
        return time
    }

    /// The next frame does not follow the last one.
    mutating func restart() {
        largest = []
        last = nil
    }

    private mutating func measure(_ time: Int64) {
        defer { last = time }
        guard let last, time > last, time - last < 2_000_000 else { return }
        let delta = max(1_000, time - last)
        if isIntervalMeasured {
            // A gap of lost frames says little about the interval.
            interval += (min(delta, interval * 4) - interval) / 8
        } else {
            interval = delta
            isIntervalMeasured = true
        }
    }
}
