public import NIOCore

/// How an `RTPReceiver` behaves.
public struct RTPReceiverConfiguration: Sendable {
    /// The SSRC under which feedback and reports go out.
    public var localSSRC: UInt32

    /// The CNAME of the peer that sends the reports.
    public var canonicalName: String

    /// Whether missing packets are asked for. Default true; false where the peer has not agreed to it.
    public var isNACKEnabled: Bool

    /// Whether key frames are asked for. Default true; ignored for sound.
    public var isPLIEnabled: Bool

    /// Whether feedback may stand alone (RFC 5506, `a=rtcp-rsize`). Default true; otherwise an empty RR goes first.
    public var isReducedSizeAllowed: Bool

    /// Whether key frames may be requested by FIR (RFC 5104 §4.3.1) where PLI may not be sent. Default false.
    public var isFIREnabled = false

    /// Repairs come in a stream of their own (RFC 4588): a packet of the media stream is never one. Default false.
    public var hasRetransmissionStream = false

    /// How long a missing packet holds back what follows it, at most. Default 1 s.
    public var giveUpAge: TimeAmount

    /// How often a packet is asked for, at most. Default 10.
    public var maximumNACKs: Int

    /// How long reordering may hold back what follows a gap when NACK is off. Default 60 ms.
    public var reorderingTolerance: TimeAmount

    /// The round-trip time until one is measured. Default 100 ms.
    public var initialRoundTripTime: TimeAmount

    /// Packets that may wait behind a gap; a power of two. Default 4096. When full, the oldest gap is given up.
    public var maximumBufferedPackets: Int

    /// Packets that may be missing at once and still be asked for. Default 1024; a longer gap is given up at once.
    public var maximumMissingPackets: Int

    /// Between two reports. Default 1 s.
    public var reportInterval: TimeAmount

    /// Between two requests for a key frame, at least. Default 500 ms.
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
