import IoTCore
public import NIOCore
public import RTP

/// One encrypted connection to a peer: ICE, DTLS-SRTP, and RTP with its feedback, over one UDP port.
///
/// Owns no socket, clock, task or logger: datagrams and the time come in through its methods, and `poll` gives what
/// is to be done. After each call drain `poll` until it gives `.timeout` or `nil`.
/// Not Sendable: it is confined to one event loop. Nothing that a peer or a stranger sends can trap or throw here.
public final class PeerConnection {
    public let configuration: PeerConfiguration
    let certificate: PeerCertificate

    /// The name that ties our tracks together (RFC 7022: random, short-lived).
    let canonicalName: String

    public internal(set) var localDescription: SessionDescription?
    public internal(set) var remoteDescription: SessionDescription?
    public internal(set) var state = PeerConnectionState.new

    /// Ties the source's clock to the wall clock for sender reports; made from the first packet that is sent when
    /// the owner has not set it. A new one is reported at once, since a jump of the source's clock must not be taken
    /// for a pause.
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

    /// Which track an incoming SSRC belongs to.
    var routes: [UInt32: Int] = [:]
    static let maximumRoutes = 64

    /// The header extensions of the bundle: one number means the same in all its sections (RFC 9143 §9.1).
    var extensions = HeaderExtensionIdentifiers()

    /// `nil` before the descriptions are there, and when nothing is sent or it is switched off.
    var congestion: CongestionController?

    /// When packets arrived that carry the transport's numbers; `nil` when none do.
    var arrivals: ArrivalRecorder?
    var lastReceivedSSRC: UInt32 = 0

    /// The round-trip time that the receivers were last told.
    var notedRoundTrip: TimeAmount?

    var now: NIODeadline
    var isStartPending = false
    var isGatheringPending = false
    var hasEndedHostAddresses = false
    var hasAllRemoteCandidates = false

    /// Our offer of an ICE restart that waits for its answer.
    var restartOffer: SessionDescription?
    var pendingCandidates: [ICECandidate] = []
    var connectingDeadline: NIODeadline?

    /// DTLS that came before the answer did, and DTLS that has no way to go yet.
    var earlyDatagrams: [ByteBuffer] = []
    var heldDatagrams: [ByteBuffer] = []
    static let maximumHeldDatagrams = 16
    static let maximumPendingCandidates = 128

    var outputs: CircularBuffer<PeerOutput> = []

    /// Where outgoing packets get their buffers; whoever sends them may give them back.
    var datagramPool = DatagramPool()
    var counters = PeerStatistics()

    public convenience init(configuration: PeerConfiguration, certificate: PeerCertificate, now: NIODeadline) {
        self.init(
            configuration: configuration, certificate: certificate, now: now,
            generator: SystemRandomNumberGenerator())
    }

    /// - Parameter generator: of all that the connection chooses at random, except what OpenSSL does.
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

    /// Our ICE user name fragment: a new peer's first datagram names it.
    public var iceUfrag: String { ice.credentials.ufrag }

    /// True when the peer has shown that it is at this address.
    public func hasValidated(_ address: SocketAddress) -> Bool {
        ice.validated.contains(ICERoute(address))
    }

    /// Where our data go, by way of a relay of ours or not; `nil` before a way is found.
    public var selectedAddress: SocketAddress? { ice.selected?.remote }

    /// True when the datagram is STUN and answers a request of ours.
    func awaitsResponse(to id: STUNTransactionID) -> Bool {
        ice.awaitsResponse(to: id)
    }

    /// The next thing to do; `nil` when the connection has ended and everything is out.
    public func poll() -> PeerOutput? {
        if let output = outputs.popFirst() { return output }
        return state.isEnd ? nil : .timeout(nextDeadline)
    }

    /// Does what is due at `now`.
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

    /// Ends the connection: says goodbye to the peer, if there is a way to it.
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

    /// Sends one datagram; it is never dropped for want of room, as it is control, which is rare.
    func emit(_ datagram: ByteBuffer, to route: ICERoute) {
        counters.packetsSent += 1
        counters.bytesSent += UInt64(datagram.readableBytes)
        ice.noteSent(datagram.readableBytes)
        guard route.relay != nil else { return outputs.append(.transmit(datagram, to: route.remote)) }
        ice.transmit(datagram, on: route, at: now)
        flushICE()
    }
}
