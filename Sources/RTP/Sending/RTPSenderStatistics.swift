public import NIOCore

/// Counters of one outgoing stream, named as `RTCOutboundRtpStreamStats` and `RTCRemoteInboundRtpStreamStats` of
/// W3C webrtc-stats are.
public struct RTPSenderStatistics: Sendable, Hashable {
    public var ssrc: UInt32 = 0

    /// The SSRC of the repairs; `nil` when they go out in the stream itself.
    public var rtxSSRC: UInt32?

    /// Packets sent, retransmissions included.
    public var packetsSent: UInt64 = 0

    /// Payload bytes sent, without headers, retransmissions included.
    public var bytesSent: UInt64 = 0

    /// RTP headers with their extensions, and original sequence numbers.
    public var headerBytesSent: UInt64 = 0

    public var retransmittedPacketsSent: UInt64 = 0
    public var retransmittedBytesSent: UInt64 = 0

    /// Frames whose last packet was sent; G.711 and Opus have no last packet, and count none.
    public var framesSent: UInt64 = 0
    public var keyFramesSent: UInt64 = 0

    /// How long packets waited for the pacer, all together.
    public var totalPacketSendDelay = TimeAmount.zero

    /// Packets that were refused: whole frames up to the next key frame, when the pacer's queue was full.
    public var packetsDiscarded: UInt64 = 0

    /// NACK, PLI and FIR messages received.
    public var nackCount: UInt64 = 0
    public var pliCount: UInt64 = 0
    public var firCount: UInt64 = 0

    /// What the peer's last report says: 0 to 1 of the last interval, packets in all, seconds.
    public var fractionLost: Double = 0
    public var packetsLost: Int64 = 0
    public var jitter: Double = 0

    /// From the peer's last report that named one of ours; `nil` before.
    public var roundTripTime: TimeAmount?
    public var totalRoundTripTime = TimeAmount.zero
    public var roundTripTimeMeasurements: UInt64 = 0

    /// Reports of the peer's that named this stream.
    public var reportsReceived: UInt64 = 0

    public init() {}

    /// A packet left this long after it was given.
    @inlinable
    package mutating func noteSendDelay(_ delay: TimeAmount) {
        totalPacketSendDelay = totalPacketSendDelay + delay
    }
}

/// What the peer's reports say of one outgoing stream, named as `RTCRemoteInboundRtpStreamStats` of W3C webrtc-stats.
public struct RemoteInboundStatistics: Sendable, Hashable {
    /// 0 to 1 of the last interval, packets in all, seconds.
    public var fractionLost: Double
    public var packetsLost: Int64
    public var jitter: Double

    /// `nil` before the first report that named one of ours.
    public var roundTripTime: TimeAmount?
    public var totalRoundTripTime: TimeAmount
    public var roundTripTimeMeasurements: UInt64

    package init(_ statistics: RTPSenderStatistics) {
        fractionLost = statistics.fractionLost
        packetsLost = statistics.packetsLost
        jitter = statistics.jitter
        roundTripTime = statistics.roundTripTime
        totalRoundTripTime = statistics.totalRoundTripTime
        roundTripTimeMeasurements = statistics.roundTripTimeMeasurements
    }
}
