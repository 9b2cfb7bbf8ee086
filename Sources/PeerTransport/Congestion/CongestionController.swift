import NIOCore
import RTP

/// Keeps a connection within the capacity of its path: the estimate, and the pacer that follows it.
struct CongestionController: Sendable {
    private(set) var estimator: BandwidthEstimator
    private var pacer: Pacer
    private var input = InputRate()

    /// Whether video packets wait for the pacer: only where the peer sends more feedback than its reports.
    let isPacing: Bool

    private var reportedTarget: Int

    /// How much faster than the estimate a picture may leave; the estimate is a mean over many pictures. Until the path
    /// was full for the first time, the higher factor measures its capacity.
    private static let pacingFactor = 1.5
    private static let startFactor = 2.5

    /// The bytes that are not charged against the rate at the start.
    private static let firstBurst = 128_000

    /// A source that sends far more than the path carries, and cannot be asked to send less, is held to the estimate.
    private static let heldFactor = 1.05
    private static let heldAbove = 0.7

    /// Longer than a key frame takes: a queue in the pacer must not become a queue on the path.
    private static let longQueue = TimeAmount.milliseconds(200)

    init(_ configuration: CongestionConfiguration, isPacing: Bool, maximumQueue: Int, at now: NIODeadline) {
        self.isPacing = isPacing
        estimator = BandwidthEstimator(configuration)
        reportedTarget = estimator.target
        pacer = Pacer(
            rate: Int(Self.startFactor * Double(configuration.initialBitrate)),
            maximumDelay: configuration.maximumPacingDelay, maximumCount: maximumQueue, credit: Self.firstBurst,
            at: now)
    }

    var target: Int { estimator.target }
    var deadline: NIODeadline? { pacer.deadline }
    var queuedCount: Int { pacer.count }

    // MARK: Sending

    /// Queues a video packet. Returns false when it is refused.
    mutating func append(_ packet: MediaPacket, track: Int, at now: NIODeadline) -> Bool {
        input.note(byteCount: packet.payload.readableBytes, at: now)
        return pacer.append(packet, track: track, at: now)
    }

    mutating func append(repair packet: MediaPacket, track: Int, at now: NIODeadline) -> Bool {
        pacer.append(repair: packet, track: track, at: now)
    }

    mutating func pay(byteCount: Int, at now: NIODeadline) {
        pacer.pay(byteCount: byteCount, at: now)
    }

    mutating func pop(at now: NIODeadline) -> Pacer.Item? {
        pacer.pop(at: now)
    }

    mutating func noteSent(byteCount: Int, content: SentContent, at now: NIODeadline) {
        estimator.noteSent(byteCount: byteCount, content: content, at: now)
    }

    // MARK: Feedback

    /// - Returns: the packets with an outcome that this message reports for the first time.
    mutating func handle(
        _ feedback: RTCPTransportWideFeedback, roundTrip: TimeAmount, at now: NIODeadline
    ) -> [PacketResult] {
        let results = estimator.handle(feedback, roundTrip: roundTrip, at: now)
        follow(at: now)
        return results
    }

    mutating func handle(_ message: RTCPReceiverEstimate, at now: NIODeadline) {
        estimator.handle(message)
        follow(at: now)
    }

    mutating func handle(reportedLoss fraction: Double, at now: NIODeadline) {
        estimator.handle(reportedLoss: fraction)
        follow(at: now)
    }

    private mutating func follow(at now: NIODeadline) {
        let target = Double(estimator.target)
        let isHeld =
            !estimator.isStarting
            && (target < Self.heldAbove * Double(input.bitrate(at: now)) || pacer.delay > Self.longQueue)
        let factor =
            estimator.isDraining
            ? 1 : isHeld ? Self.heldFactor : estimator.isStarting ? Self.startFactor : Self.pacingFactor
        pacer.set(rate: Int(target * factor))
    }

    /// The target, if it has changed by more than 3 % since this method last returned one.
    mutating func targetChange() -> Int? {
        let target = estimator.target
        guard abs(target - reportedTarget) * 100 > 3 * reportedTarget else { return nil }
        reportedTarget = target
        return target
    }
}
