public import NIOCore

/// Counters of one incoming stream, named as `RTCInboundRtpStreamStats` of W3C webrtc-stats is.
public struct RTPReceiverStatistics: Sendable, Hashable {
    /// Those of the present source; 0 and `nil` before its first packet, or without repairs of their own.
    public var ssrc: UInt32 = 0
    public var rtxSSRC: UInt32?

    /// Packets of the stream, repairs and late and duplicate ones included.
    public var packetsReceived: UInt64 = 0

    /// Their payload bytes.
    public var bytesReceived: UInt64 = 0

    /// RTP headers with their extensions, and original sequence numbers.
    public var headerBytesReceived: UInt64 = 0
    public var lastPacketReceived: NIODeadline?

    /// Expected less received (RFC 3550 §A.3). A repair in a stream of its own changes nothing; without one, the
    /// count falls when a retransmission arrives.
    public var packetsLost: Int64 = 0

    /// Packets that came too late for their frame, or of an unknown payload type.
    public var packetsDiscarded: UInt64 = 0

    /// Packets that had come before.
    public var packetsDuplicated: UInt64 = 0

    /// Packets that arrived after they were asked for.
    public var retransmittedPacketsReceived: UInt64 = 0

    /// Payload bytes of repairs in a stream of their own.
    public var retransmittedBytesReceived: UInt64 = 0

    /// Packets that were given up and frames that were damaged.
    public var packetsGivenUp: UInt64 = 0
    public var framesDamaged: UInt64 = 0

    public var framesReceived: UInt64 = 0
    public var keyFramesReceived: UInt64 = 0

    /// Breaks: each is one `.frameLost`.
    public var framesLost: UInt64 = 0

    /// Interarrival jitter (RFC 3550 §A.8) in seconds.
    public var jitter: Double = 0

    /// NACK, PLI and FIR messages sent.
    public var nackCount: UInt64 = 0
    public var pliCount: UInt64 = 0
    public var firCount: UInt64 = 0

    /// Smoothed from what ICE measures or else from the answers to NACKs; `nil` before the first.
    public var roundTripTime: TimeAmount?

    public init() {}
}
