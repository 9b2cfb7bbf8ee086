public import NIOCore

/// The configuration of an `RTPReceiver`.
public struct RTPReceiverConfiguration: Sendable {
    /// The sender SSRC of feedback and reports.
    public var localSSRC: UInt32

    /// The CNAME of the peer that sends the reports.
    public var canonicalName: String

    /// Whether missing packets are requested with NACKs. Default true; set to false if the peer has not agreed to it.
    public var isNACKEnabled: Bool

    /// Whether key frames are requested with PLI. Default true; ignored for audio.
    public var isPLIEnabled: Bool

    /// Whether feedback may be sent alone (RFC 5506, `a=rtcp-rsize`). Default true; otherwise an empty RR precedes it.
    public var isReducedSizeAllowed: Bool

    /// Whether key frames are requested with FIR (RFC 5104 §4.3.1) if PLI is disabled. Default false.
    public var isFIREnabled = false

    /// Whether retransmissions have their own stream (RFC 4588). Packets of the media stream are then always originals.
    /// Default false.
    public var hasRetransmissionStream = false

    /// How long a missing packet may hold back later ones. Default 1 s.
    public var giveUpAge: TimeAmount

    /// The maximum number of requests for one packet. Default 10.
    public var maximumNACKs: Int

    /// How long a gap may hold back later packets if NACK is disabled. Default 60 ms.
    public var reorderingTolerance: TimeAmount

    /// `reorderingTolerance` for speech. A lost packet's sound is in the packet after it (RFC 6716 §2.1.7), so a long
    /// wait only adds delay.
    public static let speechReorderingTolerance = TimeAmount.milliseconds(20)

    /// The assumed round-trip time before the first measurement. Default 100 ms.
    public var initialRoundTripTime: TimeAmount

    /// The maximum number of packets that wait after a gap; a power of two. Default 4096. When it is reached, the
    /// oldest gap is given up.
    public var maximumBufferedPackets: Int

    /// The maximum number of missing packets to request. Default 1024; a longer gap is given up at once.
    public var maximumMissingPackets: Int

    /// The time between two reports. Default 1 s.
    public var reportInterval: TimeAmount

    /// The minimum time between two key frame requests. Default 500 ms.
    public var keyFrameRequestInterval: TimeAmount

    public init(
        localSSRC: UInt32, canonicalName: String, isNACKEnabled: Bool = true, isPLIEnabled: Bool = true,
        isReducedSizeAllowed: Bool = true, giveUpAge: TimeAmount = .seconds(1), maximumNACKs: Int = 10,
        reorderingTolerance: TimeAmount = .milliseconds(60),
        initialRoundTripTime: TimeAmount = .milliseconds(100), maximumBufferedPackets: Int = 4_096,
        maximumMissingPackets: Int = 1_024, reportInterval: TimeAmount = .seconds(1),
        keyFrameRequestInterval: TimeAmount = .milliseconds(500)
    ) {
        self.localSSRC = localSSRC
        self.canonicalName = canonicalName
        self.isNACKEnabled = isNACKEnabled
        self.isPLIEnabled = isPLIEnabled
        self.isReducedSizeAllowed = isReducedSizeAllowed
        self.giveUpAge = giveUpAge
        self.maximumNACKs = maximumNACKs
        self.reorderingTolerance = reorderingTolerance
        self.initialRoundTripTime = initialRoundTripTime
        self.maximumBufferedPackets = maximumBufferedPackets
        self.maximumMissingPackets = maximumMissingPackets
        self.reportInterval = reportInterval
        self.keyFrameRequestInterval = keyFrameRequestInterval
    }
}
