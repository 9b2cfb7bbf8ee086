import NIOCore

/// How one association behaves. What differs from RFC 9260 §16 has its reason in docs/data-channels.md.
struct SCTPConfiguration: Sendable {
    var localPort: UInt16 = 5000
    var remotePort: UInt16 = 5000

    /// Bytes of one packet. With 37 of DTLS and 4 of a TURN channel that is a datagram of 1197.
    var maximumPacketSize = 1156

    /// Streams in each direction.
    var maximumStreams: UInt16 = 1024

    /// Bytes of unfinished or blocked messages that are held, and what is advertised.
    var receiveWindow = 1 << 20

    /// The greatest message that is put together.
    var maximumMessageSize = 262_144

    /// Bytes, with `SCTPAssociation.messageOverhead` for each message, that may wait to be sent or acknowledged.
    var maximumSendBuffer = 2 << 20

    /// How far behind the last one in sequence a packet's number may be; beyond it data are dropped.
    var maximumTSNDistance: Int64 = 8192

    /// Separate runs of data behind a hole: as many as one SACK can tell.
    var maximumGapBlocks = 256

    var initialTimeout = TimeAmount.milliseconds(500)
    var minimumTimeout = TimeAmount.milliseconds(400)
    var maximumTimeout = TimeAmount.seconds(10)

    /// Less than half of `minimumTimeout`, or each last packet of a burst would be sent twice.
    var acknowledgementDelay = TimeAmount.milliseconds(200)

    var cookieLifetime = TimeAmount.seconds(60)
    var maximumRetransmissions = 10
    var maximumHandshakeRetransmissions = 10

    /// `nil` sends none.
    var heartbeatInterval: TimeAmount? = .seconds(30)

    /// Packets that one event may set off.
    var maximumBurst = 10
}
