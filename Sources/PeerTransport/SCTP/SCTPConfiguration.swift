import NIOCore

/// The configuration of one association. docs/data-channels.md gives the reasons for deviations from RFC 9260 §16.
struct SCTPConfiguration: Sendable {
    var localPort: UInt16 = 5000
    var remotePort: UInt16 = 5000

    /// Bytes of one packet. With 37 bytes of DTLS and 4 of a TURN channel, the datagram has 1197 bytes.
    var maximumPacketSize = 1156

    /// Streams in each direction.
    var maximumStreams: UInt16 = 1024

    /// The limit for bytes of incomplete or blocked messages, which is also the advertised window.
    var receiveWindow = 1 << 20

    /// The longest message that is reassembled, in bytes.
    var maximumMessageSize = 262_144

    /// Bytes that may wait to be sent or acknowledged, with `SCTPAssociation.messageOverhead` for each message.
    var maximumSendBuffer = 2 << 20

    /// How far ahead of the last number in sequence a chunk's number may be; beyond it, data are dropped.
    var maximumTSNDistance: Int64 = 8192

    /// The number of separate runs of data after gaps: as many as one SACK can report.
    var maximumGapBlocks = 256

    var initialTimeout = TimeAmount.milliseconds(500)
    var minimumTimeout = TimeAmount.milliseconds(400)
    var maximumTimeout = TimeAmount.seconds(10)

    /// Less than half of `minimumTimeout`, because otherwise the last packet of each burst would be sent twice.
    var acknowledgementDelay = TimeAmount.milliseconds(200)

    var cookieLifetime = TimeAmount.seconds(60)
    var maximumRetransmissions = 10
    var maximumHandshakeRetransmissions = 10

    /// `nil` disables heartbeats.
    var heartbeatInterval: TimeAmount? = .seconds(30)

    /// The number of packets that one event may send.
    var maximumBurst = 10
}
