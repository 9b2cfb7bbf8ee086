import NIOCore
import RTP

/// Estimates the capacity of the path to the peer from the peer's feedback about the packets it received.
///
/// Follows draft-ietf-rmcat-gcc-02: growing delay lowers the estimate to 0.85 of the arrival rate, stable delay raises
/// it, and more than 10 % of loss bounds it. Without transport-wide feedback, the estimate uses the peer's own estimate
/// (REMB) and the loss in its reports.
struct BandwidthEstimator: Sendable {
    private let configuration: CongestionConfiguration
    private var sentPackets = SentPackets()
    private var trend = DelayTrend()
    private var acknowledged = AcknowledgedRate()
    private var losses = LossRate()
    private var queue = QueueDelay()

    /// The delay-based estimate.
    private var estimate: Double
    private var receiverEstimate: Double?
    private var lastUpdate: NIODeadline?
    private var lastDecrease: NIODeadline?

    /// The arrival rate when the path was last full, and its relative variance. `nil` before that, and after the path
    /// has carried clearly more.
    private var capacity: Double?
    private var variance = 0.4

    /// True while the queue on the path drains: less is sent than the path carries.
    private(set) var isDraining = false

    /// True until the path was full for the first time.
    private(set) var isStarting = true

    /// True when transport-wide feedback has arrived.
    private(set) var hasFeedback = false

    init(_ configuration: CongestionConfiguration) {
        self.configuration = configuration
        estimate = Double(configuration.initialBitrate)
    }

    /// Bits per second that may be sent, RTP headers included.
    var target: Int {
        var value = estimate
        if isDraining { value *= Self.drainFactor }
        if let limit = losses.limit { value = min(value, limit) }
        if let receiverEstimate { value = min(value, receiverEstimate) }
        // Clamps before the conversion: a peer's own estimate may exceed every integer.
        return Int(min(max(value, Double(configuration.minimumBitrate)), Double(configuration.maximumBitrate)))
    }

    /// The arrival rate in bits per second; `nil` until enough is known.
    var acknowledgedBitrate: Int? { acknowledged.bitrate }
    var lossFraction: Double { losses.lossFraction }
    var queueDelay: TimeAmount { queue.current }
    var bytesInFlight: Int { sentPackets.bytesInFlight }

    private static let backOff = 0.85
    private static let drainFactor = 0.8
    private static let standingQueue = TimeAmount.milliseconds(20)
    private static let drainAbove = TimeAmount.milliseconds(100)
    private static let drainUntil = TimeAmount.milliseconds(40)
    private static let decreaseInterval = TimeAmount.milliseconds(100)

    /// Growth factors per second: while the capacity is unknown, and until the path was full for the first time.
    private static let growth = 1.15
    private static let startGrowth = 2.0

    // MARK: Sending

    /// The transport-wide number of the next packet.
    var nextNumber: UInt16 { sentPackets.nextNumber }

    /// Records that the packet with `nextNumber` is sent.
    mutating func noteSent(byteCount: Int, content: SentContent, at now: NIODeadline) {
        sentPackets.note(byteCount: byteCount, content: content, at: now)
    }

    // MARK: Feedback

    /// - Returns: the packets with an outcome that this message reports for the first time.
    @discardableResult
    mutating func handle(
        _ feedback: RTCPTransportWideFeedback, roundTrip: TimeAmount, at now: NIODeadline
    ) -> [PacketResult] {
        let results = sentPackets.results(of: feedback)
        guard !results.isEmpty else { return [] }
        hasFeedback = true
        var leastTransit: Int64?
        for result in results {
            guard let arrival = result.arrival else { continue }
            acknowledged.note(arrival: arrival, byteCount: result.byteCount)
            trend.note(sent: result.sent, arrival: arrival)
            let transit = arrival &- Int64(result.sent.uptimeNanoseconds / 1_000)
            leastTransit = min(leastTransit ?? transit, transit)
        }
        if let leastTransit { queue.note(leastTransit: leastTransit, at: now) }
        let lost = results.count { $0.arrival == nil }
        if losses.note(
            packets: results.count, lost: lost, target: Double(target), acknowledged: acknowledged.bitrate, at: now)
        {
            isStarting = false
        }
        adapt(roundTrip: roundTrip, at: now)
        bound()
        return results
    }

    /// Takes the peer's own estimate (REMB).
    mutating func handle(_ message: RTCPReceiverEstimate) {
        guard !hasFeedback else { return }
        receiverEstimate = Double(message.bitrate)
        // The receiver knows more than the sender.
        estimate = max(estimate, Double(message.bitrate))
    }

    /// - Parameter fraction: the share of packets that a receiver report counts as lost, 0 to 1.
    mutating func handle(reportedLoss fraction: Double) {
        guard !hasFeedback else { return }
        if losses.note(reported: fraction, target: Double(target)) { isStarting = false }
    }

    private mutating func adapt(roundTrip: TimeAmount, at now: NIODeadline) {
        let elapsed = min(Double((now - (lastUpdate ?? now)).nanoseconds) / 1e9, 1)
        lastUpdate = now
        if isDraining {
            isDraining = queue.current > Self.drainUntil
        } else {
            isDraining = !isStarting && queue.current > Self.drainAbove
        }
        // While a queue exists, the arrival rate equals the path's capacity, however little is sent.
        if isDraining { return decrease(at: now) }
        switch trend.usage {
        // A key frame that leaves faster than the other frames also builds a queue, but a short-lived one.
        case .over: if queue.current > Self.standingQueue { decrease(at: now) }
        case .under: break  // The queue drains: wait for it.
        case .normal: increase(elapsed, roundTrip: roundTrip)
        }
    }

    private mutating func bound() {
        estimate = min(max(estimate, Double(configuration.minimumBitrate)), Double(configuration.maximumBitrate))
    }

    private mutating func decrease(at now: NIODeadline) {
        isStarting = false
        if let lastDecrease, now - lastDecrease < Self.decreaseInterval { return }
        lastDecrease = now
        guard let rate = acknowledged.recentBitrate.map(Double.init) else {
            estimate *= Self.backOff
            return
        }
        noteCapacity(rate)
        estimate = min(estimate, Self.backOff * rate)
    }

    private mutating func increase(_ elapsed: Double, roundTrip: TimeAmount) {
        guard let rate = acknowledged.bitrate.map(Double.init) else { return }
        if isStarting { estimate = max(estimate, rate) }
        // A rate that was never sent is untested: sending less does not show that more would arrive.
        guard estimate < 1.5 * rate + 100_000 else { return }
        if let capacity, rate > capacity + 3 * deviation(of: capacity) { self.capacity = nil }
        if capacity != nil {
            // Near the capacity: one packet more per response time.
            let response = Double(roundTrip.nanoseconds) / 1e9 + 0.1
            estimate += max(1_200 * 8 / response, 4_000) * elapsed
        } else {
            let factor = isStarting ? Self.startGrowth : Self.growth
            estimate *= 1 + (factor - 1) * elapsed
        }
    }

    /// A running mean (draft §5.5), so that one outlier has little effect.
    private mutating func noteCapacity(_ rate: Double) {
        guard let mean = capacity, abs(rate - mean) < 3 * deviation(of: mean) else {
            capacity = rate
            variance = 0.4
            return
        }
        let updated = 0.95 * mean + 0.05 * rate
        let error = (mean - rate) / 1_000
        variance = min(max(0.95 * variance + 0.05 * error * error / max(mean / 1_000, 1), 0.4), 2.5)
        capacity = updated
    }

    /// The variance is in kbit/s, relative to a mean in kbit/s.
    private func deviation(of mean: Double) -> Double {
        (variance * mean / 1_000).squareRoot() * 1_000
    }
}
