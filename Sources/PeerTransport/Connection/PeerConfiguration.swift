public import IoTCore
public import NIOCore
public import RTP

/// How one `PeerConnection` behaves.
public struct PeerConfiguration: Sendable {
    /// The addresses under which the peer may reach our socket: its host candidates, the most wanted first.
    public var hostAddresses: [SocketAddress]

    /// False when `addHostAddress` will bring more of them. Default true.
    public var hasAllHostAddresses: Bool

    /// The side that offers controls ICE (RFC 8445 §6.1.1).
    public var isControlling: Bool

    /// The offerer: the offer's sections. The answerer: what it sends in the offered sections, matched by kind and
    /// order; an offered section that matches none is only received. A section without a `mid` is named by its
    /// place; one without an SSRC or CNAME gets a random one.
    public var sections: [MediaSection]

    /// From the exchange of descriptions to the end of the DTLS handshake, at most. Default 10 s; then the peer
    /// fails with `handshakeTimeout`.
    public var handshakeTimeout: TimeAmount

    /// Datagrams that may wait to be polled. Default 4096; when it is full, further media packets are dropped and
    /// counted.
    public var maximumQueuedDatagrams: Int

    /// Whether lost packets are asked for again where the peer agrees. Default true.
    public var isNACKEnabled: Bool

    /// Whether repairs of video travel in a stream of their own (RFC 4588) where the peer agrees; otherwise a packet
    /// goes out again as it was. Default true.
    public var isRetransmissionStreamEnabled = true

    /// Data channels, in a section behind the others. Default `nil`: none are offered, and offered ones are declined.
    public var dataChannels: DataChannelConfiguration?

    /// How the rate of what is sent is found and kept.
    public var congestion = CongestionConfiguration()

    /// What receivers of our pictures are asked to wait before they show them, where they agreed to be asked.
    /// `nil` leaves it to them. Default `nil`.
    public var playoutDelay: PlayoutDelay?

    public var ice: ICEConfiguration

    /// µs since 1970, for sender reports. Default: the system's clock.
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
