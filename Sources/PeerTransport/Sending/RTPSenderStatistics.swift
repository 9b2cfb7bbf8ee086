public import NIOCore

/// Counters of one outgoing stream, named as `RTCOutboundRtpStreamStats` and `RTCRemoteInboundRtpStreamStats` of
/// W3C webrtc-stats are.
public struct RTPSenderStatistics: Sendable, Hashable {
    /// Packets sent, retransmissions included.
    public var packetsSent: UInt64 = 0

    /// Payload bytes sent, without headers, retransmissions included.
    public var bytesSent: UInt64 = 0

    public var retransmittedPacketsSent: UInt64 = 0
    public var retransmittedBytesSent: UInt64 = 0

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

    public init() {}
}
