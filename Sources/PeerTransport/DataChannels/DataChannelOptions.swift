public import NIOCore

/// For how long each message of a channel is worth sending. Names as in W3C's RTCDataChannelInit.
public enum DataChannelReliability: Sendable, Hashable {
    case reliable
    /// Sent again at most so often, 0 to 65,535.
    case maxRetransmits(Int)
    /// Neither sent nor sent again after this time, 0 to 65,535 ms.
    case maxPacketLifeTime(TimeAmount)
}

/// How a data channel behaves.
public struct DataChannelOptions: Sendable, Hashable {
    /// Messages arrive in the order of sending. Default true.
    public var isOrdered: Bool

    /// Default reliable.
    public var reliability: DataChannelReliability

    /// The stream, 0 to 1,023, when both sides open the channel with the same number and nothing is said about it on
    /// the wire. Default `nil`: the peer is told, and gets `dataChannelOpened`.
    public var negotiatedID: UInt16?

    /// Told to the peer; it has no effect here, where channels take turns. Default 256, which is "normal" (RFC 8831 §6.4).
    public var priority: UInt16

    public init(
        isOrdered: Bool = true, reliability: DataChannelReliability = .reliable, negotiatedID: UInt16? = nil,
        priority: UInt16 = 256
    ) {
        self.isOrdered = isOrdered
        self.reliability = reliability
        self.negotiatedID = negotiatedID
        self.priority = priority
    }
}

/// The bounds of a connection's data channels.
public struct DataChannelConfiguration: Sendable, Hashable {
    /// The greatest message that is taken, in bytes; told to the peer. A longer one ends the data channels. Default
    /// 262,144.
    public var maximumReceivedMessage: Int

    /// The greatest message that is sent, in bytes; the peer's own limit holds as well. Default 64,000.
    public var maximumSentMessage: Int

    /// Bytes of all channels that may wait to be sent or acknowledged, each message counted with 128 more. Default
    /// 2 MiB. Behind it `send` throws `channelSendFailed`.
    public var maximumBufferedBytes: Int

    /// Channels at a time, the peer's and ours. Default 256, at most 1,024.
    public var maximumChannels: Int

    public init(
        maximumReceivedMessage: Int = 262_144, maximumSentMessage: Int = 64_000,
        maximumBufferedBytes: Int = 2 << 20, maximumChannels: Int = 256
    ) {
        self.maximumReceivedMessage = maximumReceivedMessage
        self.maximumSentMessage = maximumSentMessage
        self.maximumBufferedBytes = maximumBufferedBytes
        self.maximumChannels = maximumChannels
    }
}
