import IoTCore

/// Assigns presentation times to pictures without them, for example in a raw H.264 file with B-frames.
///
/// Pictures arrive in decoding order with decoding times and picture order counts. A picture's place in output order is
/// certain when more pictures wait than may be reordered (H.264 §C.4.5.3, "bumping"). The n-th picture in output order
/// is then shown at the n-th decoding time, and all decoding times move `depth` frames earlier. At most `depth` + 1
/// pictures wait for their time. Timed pictures wait for earlier ones in decoding order.
struct PresentationOrder {
    private struct Pending {
        var frame: MediaFrame
        var orderCount: Int
        var isPlaced: Bool
    }

    let depth: Int
    let frameDuration: Int64
    private var pending: [Pending] = []
    private var decodingTimes: [Int64] = []

    init(depth: Int, frameDuration: Int64) {
        self.depth = max(0, depth)
        self.frameDuration = frameDuration
    }

    /// - Parameter startsSequence: The order counts start again, so all earlier pictures precede this one in output
    ///   order.
    /// - Returns: The pictures with known times, in decoding order.
    mutating func push(_ frame: MediaFrame, orderCount: Int, startsSequence: Bool) -> [MediaFrame] {
        if startsSequence { placeAll() }
        decodingTimes.append(frame.dts)
        pending.append(Pending(frame: frame, orderCount: orderCount, isPlaced: false))
        while pending.count(where: { !$0.isPlaced }) > depth { placeNext() }
        return popPlaced()
    }

    mutating func finish() -> [MediaFrame] {
        placeAll()
        return popPlaced()
    }

    private mutating func placeAll() {
        while pending.contains(where: { !$0.isPlaced }) { placeNext() }
    }

    private mutating func placeNext() {
        let waiting = pending.indices.filter { !pending[$0].isPlaced }
        guard let next = waiting.min(by: { pending[$0].orderCount < pending[$1].orderCount }),
            !decodingTimes.isEmpty
        else { return }
        pending[next].isPlaced = true
        pending[next].frame.pts = decodingTimes.removeFirst()
        pending[next].frame.dts -= Int64(depth) * frameDuration
    }

    private mutating func popPlaced() -> [MediaFrame] {
        let count = pending.prefix { $0.isPlaced }.count
        defer { pending.removeFirst(count) }
        return pending.prefix(count).map(\.frame)
    }
}
