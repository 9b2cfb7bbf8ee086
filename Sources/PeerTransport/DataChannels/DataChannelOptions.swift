public import NIOCore

/// How long a channel tries to deliver each message. Names as in W3C's RTCDataChannelInit.
public enum DataChannelReliability: Sendable, Hashable {
    case reliable
    /// The number of retransmissions, 0 to 65,535.
    case maxRetransmits(Int)
    /// The time after which a message is neither sent nor sent again, 0 to 65,535 ms.
    case maxPacketLifeTime(TimeAmount)
}

/// The options of a data channel.
public struct DataChannelOptions: Sendable, Hashable {
    /// Messages arrive in order. Default true.
    public var isOrdered: Bool

    /// Default reliable.
    public var reliability: DataChannelReliability

    /// The stream, 0 to 1,023, when both sides open the channel with the same number and do not signal it in the
    /// channel. Default `nil`: the channel is signalled to the peer, which gets `dataChannelOpened`.
    public var negotiatedID: UInt16?

    /// Sent to the peer; has no effect here, where channels take turns. Default 256, which is "normal" (RFC 8831 §6.4).
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

/// The limits of a connection's data channels.
public struct DataChannelConfiguration: Sendable, Hashable {
    /// The longest message that is accepted, in bytes; signalled to the peer. A longer one ends the data channels.
    /// Default 262,144.
    public var maximumReceivedMessage: Int

    /// The longest message that is sent, in bytes; the peer's own limit applies as well. Default 64,000.
    public var maximumSentMessage: Int

    /// The bytes of all channels that may wait to be sent or acknowledged, plus 128 for each message. Default 2 MiB.
    /// Above it, `send` throws `channelSendFailed`.
    public var maximumBufferedBytes: Int

    /// The maximum number of channels at a time, the peer's and ours. Default 256, at most 1,024.
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
