import NIOCore
import RTP

/// Keeps what a connection sends within what its way carries: the estimate, and the pacer that follows it.
struct CongestionController: Sendable {
    private(set) var estimator: BandwidthEstimator
    private var pacer: Pacer
    private var input = InputRate()

    /// Whether pictures wait for the pacer: only where the peer tells more than its reports do.
    let isPacing: Bool

    private var toldTarget: Int

    /// So much faster than the estimate may a picture leave: it was sized for the estimate on the average. Until the
    /// way was full for the first time the faster one finds out what it carries.
    private static let pacingFactor = 1.5
    private static let startFactor = 2.5

    /// What may leave at once in the beginning.
    private static let firstBurst = 128_000

    /// A source that sends far more than the way carries, and cannot be told to send less, is held to the estimate.
    private static let heldFactor = 1.05
    private static let heldAbove = 0.7

    /// More than a key frame's worth: what waits must not make a queue on the way.
    private static let longQueue = TimeAmount.milliseconds(200)

    init(_ configuration: CongestionConfiguration, isPacing: Bool, maximumQueue: Int, at now: NIODeadline) {
        self.isPacing = isPacing
        estimator = BandwidthEstimator(configuration)
        toldTarget = estimator.target
        pacer = Pacer(
            rate: Int(Self.startFactor * Double(configuration.initialBitrate)),
            maximumDelay: configuration.maximumPacingDelay, maximumCount: maximumQueue, credit: Self.firstBurst,
            at: now)
    }

    var target: Int { estimator.target }
    var deadline: NIODeadline? { pacer.deadline }
    var queuedCount: Int { pacer.count }

    // MARK: Sending

    /// Takes a picture's packet; false when it is refused.
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

    /// - Returns: what became of packets, as far as the message newly tells.
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

    /// The target, when it has moved by more than 3 % since it was last given.
    mutating func targetChange() -> Int? {
        let target = estimator.target
        guard abs(target - toldTarget) * 100 > 3 * toldTarget else { return nil }
        toldTarget = target
        return target
    }
}
