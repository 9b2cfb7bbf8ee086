public import IoTCore
public import NIOCore
public import RTP

/// The configuration of one `PeerConnection`.
public struct PeerConfiguration: Sendable {
    /// The addresses at which the peer may reach our socket: its host candidates, most preferred first.
    public var hostAddresses: [SocketAddress]

    /// False when `addHostAddress` adds more addresses later. Default true.
    public var hasAllHostAddresses: Bool

    /// The side that offers controls ICE (RFC 8445 §6.1.1).
    public var isControlling: Bool

    /// For the offerer, the sections of the offer. For the answerer, what it sends in the offered sections, matched by
    /// `mid`, and otherwise by kind and order; an offered section without a match is receive-only. A section without a `mid` gets its index as
    /// `mid`; a section without an SSRC or CNAME gets a random one.
    public var sections: [MediaSection]

    /// The longest time from the exchange of descriptions to the end of the DTLS handshake. Default 10 s; then the peer
    /// fails with `handshakeTimeout`.
    public var handshakeTimeout: TimeAmount

    /// The number of datagrams that may wait for `poll`. Default 4096; above it, media packets are dropped and counted.
    public var maximumQueuedDatagrams: Int

    /// Whether lost packets are requested again where the peer agrees. Default true.
    public var isNACKEnabled: Bool

    /// Whether repairs of video are sent in a stream of their own (RFC 4588) where the peer agrees. Otherwise a packet
    /// is sent again unchanged. Default true.
    public var isRetransmissionStreamEnabled = true

    /// Data channels, in a section after the others. Default `nil`: none are offered, and offered ones are declined.
    public var dataChannels: DataChannelConfiguration?

    /// How the send rate is estimated and limited.
    public var congestion = CongestionConfiguration()

    /// The playout delay that receivers of our video are asked for, where they agreed to the extension. `nil` leaves it
    /// to them. Default `nil`.
    public var playoutDelay: PlayoutDelay?

    public var ice: ICEConfiguration

    /// Returns µs since 1970, for sender reports. Default: the system's clock.
    public var wallClock: @Sendable () -> Int64

    public init(
        hostAddresses: [SocketAddress], isControlling: Bool, sections: [MediaSection] = [],
        hasAllHostAddresses: Bool = true, handshakeTimeout: TimeAmount = .seconds(10),
        maximumQueuedDatagrams: Int = 4096, isNACKEnabled: Bool = true, ice: ICEConfiguration = ICEConfiguration(),
        wallClock: @escaping @Sendable () -> Int64 = WallClock.microseconds
    ) {
        self.hostAddresses = hostAddresses
        self.hasAllHostAddresses = hasAllHostAddresses
        self.isControlling = isControlling
        self.sections = sections
        self.handshakeTimeout = handshakeTimeout
        self.maximumQueuedDatagrams = maximumQueuedDatagrams
        self.isNACKEnabled = isNACKEnabled
        self.ice = ice
        self.wallClock = wallClock
    }
}
