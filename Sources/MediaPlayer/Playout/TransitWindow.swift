import NIOCore

/// The transit times (arrival − decoding time, in µs) of one track over the last seconds (at most 2,048 samples): their
/// minimum and 95th percentile.
///
/// The two clocks have no common zero, so only differences of transit times are meaningful. The minimum belongs to the
/// frame that the network delayed least; as old samples leave, it follows clocks that drift apart.
struct TransitWindow {
    private struct Sample {
        var arrival: Int64
        var transit: Int64
    }

    private static let maximumSamples = 2_048
    private static let percentileInterval: Int64 = 200_000

    private let length: Int64
    private var samples = CircularBuffer<Sample>()

    /// Samples in ascending order of transit time: each is lower than all later samples of the window. The first is the
    /// window's minimum.
    private var minima = CircularBuffer<Sample>()
    private var percentile: (value: Int64, at: Int64)?

    init(length: Int64) {
        self.length = length
    }

    var isEmpty: Bool { samples.isEmpty }

    var minimum: Int64? { minima.first?.transit }

    mutating func append(transit: Int64, at arrival: Int64) {
        removeSamples(before: arrival - length)
        if samples.count >= Self.maximumSamples, let oldest = samples.popFirst() {
            removeMinima(before: oldest.arrival + 1)
        }
        let sample = Sample(arrival: arrival, transit: transit)
        samples.append(sample)
        while let last = minima.last, last.transit >= transit {
            minima.removeLast()
        }
        minima.append(sample)
    }

    /// At most 200 ms old, because calculating it sorts the window.
    mutating func percentile95(at now: Int64) -> Int64? {
        if let percentile, now - percentile.at < Self.percentileInterval { return percentile.value }
        guard !samples.isEmpty else { return nil }
        let sorted = samples.map(\.transit).sorted()
        let value = sorted[(sorted.count - 1) * 95 / 100]
        percentile = (value, now)
        return value
    }

    mutating func removeSamples(before time: Int64) {
        while let first = samples.first, first.arrival < time {
            samples.removeFirst()
        }
        removeMinima(before: time)
    }

    mutating func removeAll() {
        samples.removeAll()
        minima.removeAll()
        percentile = nil
    }

    private mutating func removeMinima(before time: Int64) {
        // The newest sample is always among the minima, so the minima are empty only if the window is.
        while let first = minima.first, first.arrival < time, minima.count > 1 || samples.isEmpty {
            minima.removeFirst()
        }
    }
}
