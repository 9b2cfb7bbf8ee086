public import NIOCore

/// Statistics of one incoming stream, named like W3C webrtc-stats' `RTCInboundRtpStreamStats`.
public struct RTPReceiverStatistics: Sendable, Hashable {
    /// The SSRCs of the current source. `ssrc` is 0 before the first packet; `rtxSSRC` is `nil` without a
    /// retransmission stream.
    public var ssrc: UInt32 = 0
    public var rtxSSRC: UInt32?

    /// Packets received, including retransmissions, late packets and duplicates.
    public var packetsReceived: UInt64 = 0

    /// The payload bytes of these packets.
    public var bytesReceived: UInt64 = 0

    /// Bytes of RTP headers with extensions, and of the original sequence numbers in retransmissions.
    public var headerBytesReceived: UInt64 = 0
    public var lastPacketReceived: NIODeadline?

    /// Expected minus received packets (RFC 3550 §A.3). Retransmissions in their own stream do not change it; otherwise
    /// it decreases when a retransmission arrives.
    public var packetsLost: Int64 = 0

    /// Packets that arrived too late for their frame, or had an unknown payload type.
    public var packetsDiscarded: UInt64 = 0

    /// Duplicate packets.
    public var packetsDuplicated: UInt64 = 0

    /// Packets that arrived after they were requested.
    public var retransmittedPacketsReceived: UInt64 = 0

    /// Payload bytes in the retransmission stream.
    public var retransmittedBytesReceived: UInt64 = 0

    /// Packets given up, and damaged frames.
    public var packetsGivenUp: UInt64 = 0
    public var framesDamaged: UInt64 = 0

    public var framesReceived: UInt64 = 0
    public var keyFramesReceived: UInt64 = 0

    /// The number of `.frameLost` outputs. Each may represent several frames.
    public var framesLost: UInt64 = 0

    /// Interarrival jitter (RFC 3550 §A.8) in seconds.
    public var jitter: Double = 0

    /// NACK, PLI and FIR messages sent.
    public var nackCount: UInt64 = 0
    public var pliCount: UInt64 = 0
    public var firCount: UInt64 = 0

    /// Smoothed round-trip time, measured by ICE or otherwise from answers to NACKs; `nil` before the first
    /// measurement.
    public var roundTripTime: TimeAmount?

    public init() {}
}
