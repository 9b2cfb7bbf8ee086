import IoTCore
import MediaPlayer
import NIOCore
import PeerTransport
import RTP

/// Feeds a player with a device's media in a call: manages the peer connection from its creation to its end. Confined
/// to one event loop.
final class CallFeed: FrameSource {
    /// How long to wait for the reason of a closed connection, which comes over the link.
    private static let closeReasonTimeout = TimeAmount.milliseconds(500)
    private static let maximumEarlyCandidates = 32
    private static let maximumCandidateLength = 1_024

    private let eventLoop: any EventLoop
    /// Receives our candidates that follow the answer; empty text marks the end of the candidates.
    private let onCandidate: (String) -> Void
    private let onConnection: (ConnectionStatus, ConnectionSubstate?) -> Void

    private var peer: Peer?
    /// Our requests to the device.
    let control: ControlClient
    /// The users' own data.
    let data: DataClient
    /// Parts of recordings' files.
    let files: DataClient
    /// The section in which we may talk, and what the device accepts there.
    private(set) var talkCodec: RTPCodec?
    /// The codec in which the device accepts our own pictures; `nil` unless the call is live and we show some.
    private(set) var pictureCodec: RTPCodec?
    private var pictures = CallerPackets()
    private var tracks = CallTracks()
    private var earlyCandidates: [String] = []
    private var connected: EventLoopPromise<Void>?
    private var isClosed = false
    /// When the connection counts as hung up, if no other reason has come.
    private var closeDeadline: NIODeadline?
    /// Outputs for the player, which polls them whenever one is added.
    private var outputs = CircularBuffer<FrameSourceOutput>()

    let delivery = FrameDelivery.arriving
    var onReady: ((NIODeadline) -> Void)?

    init(
        eventLoop: any EventLoop, onCandidate: @escaping (String) -> Void,
        onNotification: @escaping (ControlMethod, JSONValue) -> Void = { _, _ in },
        onConnection: @escaping (ConnectionStatus, ConnectionSubstate?) -> Void
    ) {
        control = ControlClient(eventLoop: eventLoop, onNotification: onNotification)
        data = DataClient(eventLoop: eventLoop)
        files = DataClient(label: FileServer.label, eventLoop: eventLoop)
        self.eventLoop = eventLoop
        self.onCandidate = onCandidate
        self.onConnection = onConnection
    }

    // MARK: Connecting

    deinit {
        connected?.fail(IoTError(.hungUp, "the channel was closed"))
    }

    func open(at now: NIODeadline) {
        connected = eventLoop.makePromise()
        onConnection(.connecting, .wakingDevice)
        outputs.append(.progress(.wakingDevice))
    }

    /// Completes when the connection is established and the tracks are known; `nil` before `open(at:)` and after that.
    var connection: EventLoopFuture<Void>? { connected?.futureResult }

    /// Makes the peer and answers the device's offer. The servers' candidates follow the answer.
    ///
    /// - Parameter ownPicture: The codec of our own pictures in a live call.
    func answer(
        _ offer: SessionDescription, iceServers: [ICEServer], areNamedByDevice: Bool, ownPicture: RTPCodec? = nil,
        socket: PeerSocket, certificate: PeerCertificate
    ) throws(IoTError) -> SessionDescription {
        guard peer == nil, connected != nil else { throw IoTError(.duplicateCall) }
        var configuration = PeerConfiguration(hostAddresses: socket.hostAddresses, isControlling: false)
        configuration.ice.servers = iceServers
        configuration.ice.refusesLocalServers = areNamedByDevice
        let talk = offer.sections.first { $0.mid == TalkSection.mid && $0.kind == .audio && $0.direction.receives }
        if talk != nil { configuration.sections = [TalkSection.sending()] }
        if let ownPicture, CallerSection.isOffered(in: offer) {
            configuration.sections.append(CallerSection.sending(ownPicture))
            // The encoder of a camera cannot be slowed down, so an estimate could only leave frames out.
            configuration.congestion.isEnabled = false
        }
        if offer.dataSection != nil { configuration.dataChannels = .call }
        let peer = try socket.makePeer(configuration: configuration, certificate: certificate) { [weak self] event in
            guard let self else { return }
            handle(event, at: eventLoop.now)
        }
        let answer: SessionDescription
        do throws(IoTError) {
            answer = try peer.createAnswer(to: offer) { $0.codecs.contains { $0.trackParameters != nil } }
        } catch {
            peer.close()
            throw error
        }
        self.peer = peer
        control.use(peer)
        data.use(peer)
        files.use(peer)
        talkCodec = talk.flatMap { peer.sendingCodec(mid: $0.mid) }
        pictureCodec = peer.sendingCodec(mid: CallerSection.mid)
        for candidate in earlyCandidates { try? peer.addRemoteCandidate(candidate) }
        earlyCandidates = []
        tracks = CallTracks(
            answer.sections.filter(\.direction.receives).compactMap { section in
                section.codecs.first.map { (section.mid, section.kind, $0) }
            })
        onConnection(.connecting, .handshaking)
        give(.progress(.handshaking), at: eventLoop.now)
        return answer
    }

    /// Adds a candidate of the device; it may arrive before the offer.
    func addRemoteCandidate(_ candidate: String) {
        if let peer {
            try? peer.addRemoteCandidate(candidate)
        } else if !isClosed, earlyCandidates.count < Self.maximumEarlyCandidates,
            candidate.utf8.count <= Self.maximumCandidateLength
        {
            earlyCandidates.append(candidate)
        }
    }

    private func handle(_ event: PeerEvent, at now: NIODeadline) {
        guard !isClosed else { return }
        switch event {
        case .stateChanged(.connected):
            onConnection(.connected, .ready)
            give(.opened(tracks.description), at: now)
            connected?.succeed()
            connected = nil
        case .stateChanged(.failed(let error)):
            outputs.append(.failed(error))
            give(.closed(error), at: now)
        case .stateChanged(.closed):
            // The reason comes over the link and may arrive later. An operator must see that the sharing was ended, not
            // just that the device hung up.
            closeDeadline = closeDeadline ?? now + Self.closeReasonTimeout
            onReady?(now)
        case .localCandidate(let candidate):
            onCandidate(candidate)
        case .dataChannelOpened, .dataChannelMessage, .dataChannelClosed:
            control.handle(event)
            data.handle(event)
            files.handle(event)
        case .retransmissionRequested(CallerSection.mid, let sequences):
            for packet in sequences.compactMap(pictures.packet(sequence:)) {
                peer?.resend(packet, mid: CallerSection.mid)
            }
        default:
            if let output = tracks.output(event) { give(output, at: now) }
        }
    }

    private func give(_ output: FrameSourceOutput, at now: NIODeadline) {
        outputs.append(output)
        onReady?(now)
    }

    // MARK: Feeding

    var nextTimeout: NIODeadline? { closeDeadline }

    func poll(at now: NIODeadline) -> FrameSourceOutput? {
        if let output = outputs.popFirst() { return output }
        guard let closeDeadline, now >= closeDeadline else { return nil }
        self.closeDeadline = nil
        return .closed(IoTError(.hungUp, "the device closed the channel"))
    }

    /// Sends what a local user says.
    func sendSpeech(_ packets: [MediaPacket]) {
        peer?.send(packets, mid: TalkSection.mid)
    }

    /// Another of our cameras begins, or the same one again.
    func beginPictures() { pictures.begin() }

    /// Sends our own pictures.
    func sendPictures(_ packets: [MediaPacket]) {
        guard let pictureCodec else { return }
        let placed = pictures.place(packets, clockRate: pictureCodec.clockRate, at: eventLoop.now)
        peer?.send(placed, mid: CallerSection.mid)
    }

    func requestKeyFrame(at now: NIODeadline) {
        if let mid = tracks.section(.video) { peer?.requestKeyFrame(mid: mid) }
    }

    func close(_ reason: IoTError?, at now: NIODeadline) {
        guard !isClosed else { return }
        isClosed = true
        closeDeadline = nil
        outputs.removeAll()
        control.end(reason ?? IoTError(.hungUp, "the channel was closed"))
        data.end(reason ?? IoTError(.hungUp, "the channel was closed"))
        files.end(reason ?? IoTError(.hungUp, "the channel was closed"))
        peer?.close()
        connected?.fail(reason ?? IoTError(.hungUp, "the channel was closed"))
        connected = nil
        onConnection(.disconnected, nil)
    }

    var packets: [MediaKind: PacketCounters] {
        peer.map { tracks.packets($0.statistics.inbound) } ?? [:]
    }

    var roundTripTime: TimeAmount? { peer?.statistics.currentRoundTripTime }

    var route: SourceRoute? {
        guard let pair = peer?.statistics.candidatePairs.first(where: \.isSelected) else { return nil }
        return SourceRoute(local: pair.local.candidateType, remote: pair.remote.candidateType)
    }
}
