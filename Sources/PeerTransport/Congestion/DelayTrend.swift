import NIOCore

/// Whether the delay of packets grows, which means that a queue grows somewhere on the path
/// (draft-ietf-rmcat-gcc-02 §4 and §5, with a line fitted to the last delays instead of a Kalman filter).
struct DelayTrend: Sendable {
    enum Usage: Sendable {
        case normal, over, under
    }

    private(set) var usage = Usage.normal

    /// Packets that were sent within 5 ms.
    private struct Group: Sendable {
        var firstSent: NIODeadline
        var lastSent: NIODeadline
        var firstArrival: Int64
        var lastArrival: Int64
    }

    private var current: Group?
    private var previous: Group?

    /// ms, smoothed: the sum of the delay differences between consecutive groups.
    private var accumulated = 0.0
    private var smoothed = 0.0
    private var points: [(time: Double, delay: Double)] = []
    private var deltaCount = 0
    private var firstArrival: Int64?

    /// ms: the limit that the trend is compared with; it adapts to the jitter of the path.
    private var threshold = 12.5
    private var thresholdUpdate: Int64?
    private var timeOverUsing = 0.0
    private var overUseCount = 0
    private var lastTrend = 0.0

    private static let burst = TimeAmount.milliseconds(5)
    private static let windowSize = 20
    private static let smoothing = 0.9
    private static let gain = 4.0
    private static let overUseTime = 10.0

    init() {}

    /// Takes a packet that arrived, in order of sending.
    mutating func note(sent: NIODeadline, arrival: Int64) {
        guard var group = current else {
            current = Group(firstSent: sent, lastSent: sent, firstArrival: arrival, lastArrival: arrival)
            return
        }
        // Reported late: an earlier message reported it as missing.
        guard sent >= group.firstSent else { return }
        if sent - group.firstSent <= Self.burst || belongs(sent: sent, arrival: arrival, to: group) {
            group.lastSent = max(group.lastSent, sent)
            group.lastArrival = max(group.lastArrival, arrival)
            current = group
            return
        }
        if let previous {
            let sentDelta = Double((group.lastSent - previous.lastSent).nanoseconds) / 1e6
            let arrivalDelta = Double(group.lastArrival - previous.lastArrival) / 1e3
            // The receiver's clock has changed, or the pause was too long to say anything about a queue.
            if sentDelta < 0 || abs(arrivalDelta - sentDelta) > 3_000 {
                self = DelayTrend()
            } else {
                update(arrivalDelta - sentDelta, sentDelta: sentDelta, arrival: group.lastArrival)
                self.previous = group
            }
        } else {
            previous = group
        }
        current = Group(firstSent: sent, lastSent: sent, firstArrival: arrival, lastArrival: arrival)
    }

    /// Packets that arrive in one burst after a stall say nothing about the path's rate.
    private func belongs(sent: NIODeadline, arrival: Int64, to group: Group) -> Bool {
        let propagation = Double(arrival - group.lastArrival) / 1e3 - Double((sent - group.lastSent).nanoseconds) / 1e6
        return propagation < 0 && arrival - group.lastArrival <= 5_000 && arrival - group.firstArrival < 100_000
    }

    private mutating func update(_ difference: Double, sentDelta: Double, arrival: Int64) {
        deltaCount = min(deltaCount + 1, 1_000)
        accumulated += difference
        smoothed = Self.smoothing * smoothed + (1 - Self.smoothing) * accumulated
        let start = firstArrival ?? arrival
        firstArrival = start
        points.append((Double(arrival - start) / 1e3, smoothed))
        if points.count > Self.windowSize { points.removeFirst() }
        let trend = points.count == Self.windowSize ? slope ?? lastTrend : lastTrend
        detect(trend, sentDelta: sentDelta, arrival: arrival)
    }

    /// ms of delay per ms: the slope of the least-squares line.
    private var slope: Double? {
        let count = Double(points.count)
        let meanTime = points.reduce(0) { $0 + $1.time } / count
        let meanDelay = points.reduce(0) { $0 + $1.delay } / count
        var numerator = 0.0
        var denominator = 0.0
        for point in points {
            numerator += (point.time - meanTime) * (point.delay - meanDelay)
            denominator += (point.time - meanTime) * (point.time - meanTime)
        }
        return denominator > 0 ? numerator / denominator : nil
    }

    private mutating func detect(_ trend: Double, sentDelta: Double, arrival: Int64) {
        guard deltaCount >= 2 else { return }
        let offset = Double(min(deltaCount, 60)) * trend * Self.gain
        if offset > threshold {
            timeOverUsing += timeOverUsing == 0 ? sentDelta / 2 : sentDelta
            overUseCount += 1
            if timeOverUsing > Self.overUseTime, overUseCount > 1, trend >= lastTrend {
                timeOverUsing = 0
                overUseCount = 0
                usage = .over
            }
        } else {
            timeOverUsing = 0
            overUseCount = 0
            usage = offset < -threshold ? .under : .normal
        }
        lastTrend = trend
        adapt(offset, arrival: arrival)
    }

    /// Rises fast enough to compete with flows that fill queues, and falls slowly (draft §5.4, adaptive threshold).
    private mutating func adapt(_ offset: Double, arrival: Int64) {
        let last = thresholdUpdate ?? arrival
        thresholdUpdate = arrival
        let magnitude = abs(offset)
        // A single outlier says nothing about the jitter.
        guard magnitude <= threshold + 15 else { return }
        let factor = magnitude < threshold ? 0.039 : 0.0087
        let elapsed = min(Double(max(arrival - last, 0)) / 1e3, 100)
        threshold = min(max(threshold + factor * (magnitude - threshold) * elapsed, 6), 600)
    }
}
