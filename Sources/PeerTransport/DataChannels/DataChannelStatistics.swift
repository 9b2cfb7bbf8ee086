public import NIOCore

/// The statistics of one data channel. Names as in W3C's RTCDataChannelStats.
public struct DataChannelStatistics: Sendable, Hashable {
    public var label: String
    public var `protocol`: String
    public var dataChannelIdentifier: UInt16?
    public var state: DataChannel.State
    public var messagesSent: UInt64 = 0
    public var bytesSent: UInt64 = 0
    public var messagesReceived: UInt64 = 0
    public var bytesReceived: UInt64 = 0
}

/// The statistics of the SCTP association. Names as in W3C's RTCSctpTransportStats, where one exists.
public struct SCTPTransportStatistics: Sendable, Hashable {
    /// `nil` before the first measurement.
    public var smoothedRoundTripTime: TimeAmount?
    /// Bytes.
    public var congestionWindow = 0
    /// The peer's receive window in bytes.
    public var receiverWindow = 0
    /// The largest packet in bytes.
    public var mtu = 0
    /// Unacknowledged chunks.
    public var unackData = 0

    public var packetsSent: UInt64 = 0
    public var packetsReceived: UInt64 = 0
    public var chunksRetransmitted: UInt64 = 0
    public var chunksDuplicate: UInt64 = 0
    public var messagesAbandoned: UInt64 = 0
    public var timeouts: UInt64 = 0

    /// Packets and messages that were ignored: malformed, of an unknown kind, or for a channel that is not open.
    public var ignored: UInt64 = 0
}
