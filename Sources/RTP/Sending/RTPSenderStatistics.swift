public import NIOCore

/// Statistics of one outgoing stream, named like W3C webrtc-stats' `RTCOutboundRtpStreamStats` and
/// `RTCRemoteInboundRtpStreamStats`.
public struct RTPSenderStatistics: Sendable, Hashable {
    public var ssrc: UInt32 = 0

    /// The SSRC of the retransmission stream; `nil` without one.
    public var rtxSSRC: UInt32?

    /// Packets sent, including retransmissions.
    public var packetsSent: UInt64 = 0

    /// Payload bytes sent, including retransmissions.
    public var bytesSent: UInt64 = 0

    /// Bytes of RTP headers with extensions, and of the original sequence numbers in retransmissions.
    public var headerBytesSent: UInt64 = 0

    public var retransmittedPacketsSent: UInt64 = 0
    public var retransmittedBytesSent: UInt64 = 0

    /// Frames sent completely: packets with the marker bit. Not meaningful for G.711 and Opus, because their marker does
    /// not end a frame.
    public var framesSent: UInt64 = 0
    public var keyFramesSent: UInt64 = 0

    /// The total time that packets waited in the pacer.
    public var totalPacketSendDelay = TimeAmount.zero

    /// Packets dropped because the pacer's queue was full: whole frames up to the next key frame.
    public var packetsDiscarded: UInt64 = 0

    /// NACK, PLI and FIR messages received.
    public var nackCount: UInt64 = 0
    public var pliCount: UInt64 = 0
    public var firCount: UInt64 = 0

    /// From the peer's last report: share of packets lost in the last interval (0 to 1), total packets lost, jitter in
    /// seconds.
    public var fractionLost: Double = 0
    public var packetsLost: Int64 = 0
    public var jitter: Double = 0

    /// From the last report that answers one of our sender reports; `nil` before.
    public var roundTripTime: TimeAmount?
    public var totalRoundTripTime = TimeAmount.zero
    public var roundTripTimeMeasurements: UInt64 = 0

    /// Reports from the peer that cover this stream.
    public var reportsReceived: UInt64 = 0

    public init() {}

    /// Records the time from a packet's submission to its sending.
    @inlinable
    package mutating func noteSendDelay(_ delay: TimeAmount) {
        totalPacketSendDelay = totalPacketSendDelay + delay
    }
}

/// The peer's reports of one outgoing stream, named like W3C webrtc-stats' `RTCRemoteInboundRtpStreamStats`.
public struct RemoteInboundStatistics: Sendable, Hashable {
    /// Share of packets lost in the last interval (0 to 1), total packets lost, jitter in seconds.
    public var fractionLost: Double
    public var packetsLost: Int64
    public var jitter: Double

    /// `nil` before the first report that answers one of our sender reports.
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
