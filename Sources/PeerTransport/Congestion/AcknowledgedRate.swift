/// The rate at which packets arrive at the peer, in bits per second, over the last half second of the peer's clock.
struct AcknowledgedRate: Sendable {
    private var arrivals: [(time: Int64, bytes: Int)] = []
    private var bytes = 0
    private var beginning: Int64?

    private static let window: Int64 = 500_000
    private static let shortest: Int64 = 150_000
    private static let recent: Int64 = 200_000
    private static let fewestRecent = 8

    mutating func note(arrival: Int64, byteCount: Int) {
        if let last = arrivals.last, abs(arrival - last.time) > 2_000_000 { self = AcknowledgedRate() }
        if beginning == nil { beginning = arrival }
        arrivals.append((arrival, byteCount))
        bytes += byteCount
        let start = arrival - Self.window
        // Arrivals are nearly in order. A packet that overtook others stays a little longer.
        var gone = 0
        while gone < arrivals.count, arrivals[gone].time <= start {
            bytes -= arrivals[gone].bytes
            gone += 1
        }
        if gone > 0 { arrivals.removeFirst(gone) }
    }

    /// Discards all measurements, because the path has changed.
    mutating func restart() {
        self = AcknowledgedRate()
    }

    /// `nil` until enough packets have arrived.
    var bitrate: Int? {
        guard let beginning, let last = arrivals.last?.time, arrivals.count > 4 else { return nil }
        let span = min(last - beginning, Self.window)
        guard span >= Self.shortest else { return nil }
        return bytes * 8 * 1_000_000 / Int(span)
    }

    /// The rate over the last 200 ms. While a queue exists on the path, this is the path's capacity.
    var recentBitrate: Int? {
        guard let last = arrivals.last?.time, let beginning, last - beginning >= Self.recent else { return bitrate }
        let newest = arrivals.reversed().prefix { $0.time > last - Self.recent }
        guard newest.count >= Self.fewestRecent else { return bitrate }
        return newest.reduce(0) { $0 + $1.bytes } * 8 * 1_000_000 / Int(Self.recent)
    }
}
