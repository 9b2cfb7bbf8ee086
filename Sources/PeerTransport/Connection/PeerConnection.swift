import IoTCore
public import NIOCore
public import RTP

/// One encrypted connection to a peer: ICE, DTLS-SRTP, and RTP with its feedback, over one UDP port.
///
/// Owns no socket, clock, task or logger: datagrams and the time come in through its methods, and `poll` returns the
/// next thing to do. After each call, drain `poll` until it returns `.timeout` or `nil`.
/// Not Sendable: it is confined to one event loop. No input from a peer or a stranger traps or throws here.
public final class PeerConnection {
    public let configuration: PeerConfiguration
    let certificate: PeerCertificate

    /// The CNAME that groups our tracks (RFC 7022: random, short-lived).
    let canonicalName: String

    public internal(set) var localDescription: SessionDescription?
    public internal(set) var remoteDescription: SessionDescription?
    public internal(set) var state = PeerConnectionState.new

    /// Relates the source's clock to the wall clock for sender reports. Made from the first packet that is sent, unless
    /// the owner has set it. A new anchor is reported at once, because the peer must not take a jump of the source's
    /// clock for a pause.
    public var mediaClockAnchor: MediaClockAnchor? {
        didSet {
            guard mediaClockAnchor != oldValue else { return }
            for index in tracks.indices { tracks[index].sender?.clockChanged(at: now) }
        }
    }

    var ice: ICEAgent
    var dtls: DTLSSession?
    var srtp: SRTPSession?
    var tracks: [PeerTrack] = []
    var dataChannels: DataChannelTransport?

    /// The track of each incoming SSRC.
    var routes: [UInt32: Int] = [:]
    static let maximumRoutes = 64

    /// The header extensions of the bundle: an id means the same in all sections (RFC 9143 §9.1).
    var extensions = HeaderExtensionIdentifiers()

    /// `nil` before the descriptions exist, when nothing is sent, and when congestion control is disabled.
    var congestion: CongestionController?

    /// When packets with transport-wide numbers arrived; `nil` when no track uses them.
    var arrivals: ArrivalRecorder?
    var lastReceivedSSRC: UInt32 = 0

    /// The round-trip time that was last passed to the receivers.
    var notedRoundTrip: TimeAmount?

    var now: NIODeadline
    var isStartPending = false
    var isGatheringPending = false
    var hasEndedHostAddresses = false
    var hasAllRemoteCandidates = false

    /// Our offer of an ICE restart, while it waits for its answer.
    var restartOffer: SessionDescription?
    var pendingCandidates: [ICECandidate] = []
    var connectingDeadline: NIODeadline?

    /// DTLS datagrams that came before the answer, and those that wait for a path.
    var earlyDatagrams: [ByteBuffer] = []
    var heldDatagrams: [ByteBuffer] = []
    static let maximumHeldDatagrams = 16
    static let maximumPendingCandidates = 128

    var outputs: CircularBuffer<PeerOutput> = []

    /// The pool of buffers for outgoing packets. Whoever sends a packet may return its buffer.
    var datagramPool = DatagramPool()
    var counters = PeerStatistics()

    public convenience init(configuration: PeerConfiguration, certificate: PeerCertificate, now: NIODeadline) {
        self.init(
            configuration: configuration, certificate: certificate, now: now,
            generator: SystemRandomNumberGenerator())
    }

    /// - Parameter generator: the source of the connection's random numbers, except OpenSSL's.
    init(
        configuration: PeerConfiguration, certificate: PeerCertificate, now: NIODeadline,
        generator: any RandomNumberGenerator
    ) {
        var generator = generator
        self.configuration = configuration
        self.certificate = certificate
        self.now = now
        canonicalName = Hex.encode((0..<8).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        ice = ICEAgent(
            configuration: configuration.ice, isControlling: configuration.isControlling,
            hostAddresses: configuration.hostAddresses, generator: generator)
        dataChannels = configuration.dataChannels.map {
            DataChannelTransport(configuration: $0, generator: generator)
        }
    }

    /// Our ICE user name fragment, which a new peer's first datagram names.
    public var iceUfrag: String { ice.credentials.ufrag }

    /// True when the peer has shown that it is at this address.
    public func hasValidated(_ address: SocketAddress) -> Bool {
        ice.validated.contains(ICERoute(address))
    }

    /// The peer's address that we send to, directly or through a relay; `nil` before a path is found.
    public var selectedAddress: SocketAddress? { ice.selected?.remote }

    /// True when the datagram is a STUN response to one of our requests.
    func awaitsResponse(to id: STUNTransactionID) -> Bool {
        ice.awaitsResponse(to: id)
    }

    /// The next thing to do; `nil` when the connection has ended and all output is drained.
    public func poll() -> PeerOutput? {
        if let output = outputs.popFirst() { return output }
        return state.isEnd ? nil : .timeout(nextDeadline)
    }

    /// Does everything that is due at `now`.
    public func handleTimeout(at time: NIODeadline) {
        guard !state.isEnd else { return }
        now = max(now, time)
        startIfPending()
        gatherIfPending()
        ice.handleTimeout(at: now)
        flushICE()
        guard !state.isEnd else { return }
        if let connectingDeadline, now >= connectingDeadline {
            return fail(IoTError(.handshakeTimeout, "the DTLS handshake was not completed in time"))
        }
        if let dtls {
            dtls.handleTimeout()
            flushDTLS()
        }
        runTracks()
        runDataChannels()
    }

    /// Ends the connection, and sends a goodbye to the peer if there is a path.
    public func close(at time: NIODeadline) {
        guard !state.isEnd else { return }
        now = max(now, time)
        if srtp != nil {
            for track in tracks {
                guard let sender = track.sender else { continue }
                sendRTCP([.receiverReport(RTCPReceiverReport(ssrc: sender.ssrc)), sender.goodbye()])
            }
        }
        endDataChannels(nil)
        dtls?.close()
        flushDTLSDatagrams()
        end(.closed)
    }

    func fail(_ error: IoTError) {
        guard !state.isEnd else { return }
        endDataChannels(error)
        // Without consent nothing may be sent, not even a goodbye (RFC 7675 §5.1).
        if error.code != .timeoutDisconnected {
            dtls?.close()
            flushDTLSDatagrams()
        }
        end(.failed(error))
    }

    private func end(_ newState: PeerConnectionState) {
        guard !state.isEnd else { return }
        ice.close()
        flushICE()
        srtp = nil
        connectingDeadline = nil
        change(newState)
    }

    func change(_ newState: PeerConnectionState) {
        state = newState
        outputs.append(.event(.stateChanged(newState)))
    }

    private var nextDeadline: NIODeadline {
        if isStartPending && restartOffer == nil || isGatheringDue { return now }
        var deadline = connectingDeadline ?? .distantFuture
        if let time = ice.nextDeadline { deadline = min(deadline, time) }
        if let remaining = dtls?.remainingTime { deadline = min(deadline, now + remaining) }
        for index in tracks.indices {
            if let time = tracks[index].nextDeadline { deadline = min(deadline, time) }
        }
        if let time = dataChannels?.nextDeadline { deadline = min(deadline, time) }
        if srtp != nil {
            if ice.selected != nil, let time = congestion?.deadline { deadline = min(deadline, time) }
            if let time = arrivals?.deadline { deadline = min(deadline, time) }
        }
        return deadline
    }

    /// Sends one datagram. It is never dropped for lack of room, because only media fill the queue.
    func emit(_ datagram: ByteBuffer, to route: ICERoute) {
        counters.packetsSent += 1
        counters.bytesSent += UInt64(datagram.readableBytes)
        ice.noteSent(datagram.readableBytes)
        guard route.relay != nil else { return outputs.append(.transmit(datagram, to: route.remote)) }
        ice.transmit(datagram, on: route, at: now)
        flushICE()
    }
}
