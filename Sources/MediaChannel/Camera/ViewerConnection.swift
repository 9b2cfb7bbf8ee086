import IoTCore
import IoTLink
import Logging
import NIOCore
import PeerTransport
import RTP

/// A viewer's call, its peer connection and its feed: the part that both kinds of viewer share. Confined to the
/// camera's event loop.
final class ViewerConnection {
    let session: String
    let grant: CallGrant
    let stream: CameraStream
    /// What it shows.
    let source: ChannelSource
    /// The owner of the connection.
    weak var viewer: (any CalledViewer)?
    /// Whether media are sent while the connection is established.
    var wantsMedia: Bool
    /// The peer's section names for each kind of media.
    var sections: [MediaKind: String] = [:]

    /// The name of the section in which the viewer talks, if it may.
    private(set) var talkSection: String?
    /// What the viewer of a live channel shows, and the name of its section.
    private var live: LiveCall?
    private(set) var callerSection: String?
    /// Whether the caller of a live call has begun to talk.
    private var isTalking = false
    private var control: ControlServer?
    /// `nil` if the call does not allow data.
    private var data: DataServer?
    /// Only of a playback call.
    var files: FileServer?
    private(set) var peer: (any ViewerPeer)?
    /// What the viewer gets, and what it got last, for retransmissions.
    var run: ViewerRun
    var earlierRuns: [ViewerRun] = []
    /// Whether the viewer wants no picture.
    var isSoundOnly: Bool
    var pending: PendingDefinition?
    var undecided: UndecidedDefinition?
    /// The renditions whose tracks it waits for, and the definitions whose heights it waits for.
    var awaited: Set<ObjectIdentifier> = []
    /// The format of the call's video section.
    private(set) var videoFormat: RTPCodec.Format?
    private(set) var feed = ViewerFeed()
    private let peers: ViewerPeers
    private let iceServers: ICEServers
    private let onEnd: (IoTError?) -> Void
    private(set) var isConnected = false
    private var timer: Scheduled<Void>?

    /// `wantsMedia`: start as soon as the connection is established, without a `play` command.
    /// `onEnd` is called once, with the reason.
    init(
        session: String, grant: CallGrant, stream: CameraStream, choice: CameraDefinitions.Choice,
        source: ChannelSource = .main, wantsMedia: Bool, peers: ViewerPeers,
        iceServers: ICEServers = .none, onEnd: @escaping (IoTError?) -> Void
    ) {
        self.session = session
        self.grant = grant
        self.stream = stream
        self.source = source
        run = ViewerRun(choice.rendition)
        isSoundOnly = choice.definition == .audio
        self.wantsMedia = wantsMedia
        self.peers = peers
        self.iceServers = iceServers
        self.onEnd = onEnd
    }

    // MARK: Connecting

    func configuration(isControlling: Bool) -> PeerConfiguration {
        var configuration = PeerConfiguration(hostAddresses: peers.hostAddresses, isControlling: isControlling)
        configuration.ice.servers = iceServers.servers(for: session, at: WallClock.milliseconds() / 1000)
        return configuration
    }

    func section(
        _ kind: MediaKind, mid: String, _ track: CameraTrack
    ) -> MediaSection {
        if kind == .video { videoFormat = track.codec.format }
        return MediaSection(mid: mid, kind: kind, direction: .sendOnly, codecs: [track.codec], cname: session)
    }

    func makePeer(_ configuration: PeerConfiguration) throws(IoTError) -> any ViewerPeer {
        let peer = try peers.make(configuration) { [weak self] event in
            guard let self else { return }
            handle(event, at: stream.eventLoop.now)
        }
        self.peer = peer
        control = ControlServer(peer) { [weak self] method, params, respond in
            self?.perform(method, params, respond)
        }
        if grant.actions.contains(.control) {
            let call = DataCall(id: session, user: grant.user, kind: grant.kind)
            data = DataServer(call, of: stream.data, peer, on: stream.eventLoop)
        }
        return peer
    }

    /// Whether the viewer may talk to this camera. In a live call, the camera's owner can hear the caller even without a
    /// loudspeaker.
    var mayTalk: Bool { (stream.talk.isOffered || live != nil) && grant.actions.contains(.talk) }

    var isLive: Bool { live != nil }

    /// The live call whose caller this viewer watches.
    var watchedCall: LiveCall? {
        stream.live.flatMap { $0.rendition === run.rendition ? $0 : nil }
    }

    /// Makes the live call, if the viewer has called for one. It begins with the connection.
    ///
    /// - Throws: `calleeBusy` during another live call.
    func makeLive() throws(IoTError) {
        guard grant.kind == .live else { return }
        live = try stream.makeLive(session: session, grant: grant) { [weak self] in
            guard let self, let callerSection else { return }
            peer?.requestKeyFrame(mid: callerSection)
        }
    }

    /// Adds the section in which the viewer of a live channel shows its picture.
    func addCaller(_ section: MediaSection, to configuration: inout PeerConfiguration) {
        callerSection = section.mid
        configuration.sections.append(section)
    }

    /// Adds the section in which the viewer talks.
    func addTalk(_ section: MediaSection, to configuration: inout PeerConfiguration) {
        talkSection = section.mid
        configuration.sections.append(section)
    }

    func setAnswer(_ answer: SessionDescription) throws(IoTError) {
        guard let peer else { throw IoTError(.hungUp) }
        try peer.setAnswer(answer)
    }

    /// Adds a candidate of the viewer. A malformed one is ignored, so that the others still count.
    func addRemoteCandidate(_ candidate: String) throws(IoTError) {
        guard let peer else { throw IoTError(.hungUp) }
        do {
            try peer.addRemoteCandidate(candidate)
        } catch {
            stream.logger.debug(
                "a candidate that cannot be read was ignored", metadata: ["error.message": "\(error.message)"])
        }
    }

    private func handle(_ event: PeerEvent, at now: NIODeadline) {
        switch event {
        case .stateChanged(.connected): connected(at: now)
        case .stateChanged(.failed(let error)): finish(error)
        case .stateChanged(.closed): finish(nil)
        case .localCandidate(let candidate):
            noteServers()
            viewer?.found(candidate: candidate)
        case .keyFrameRequested(let mid):
            viewer?.keyFrameRequested(mid: mid, at: now)
            watchedCall?.requestKeyFrame()
        case .retransmissionRequested(let mid, let sequences):
            viewer?.retransmissionRequested(mid: mid, sequences)
        case .frame(let mid, let frame) where mid == talkSection:
            stream.talk.take(frame, of: session, at: now)
            if isTalking { live?.take(frame) }
        case .frame(let mid, let frame) where mid == callerSection: live?.take(frame)
        case .frameLost(let mid) where mid == callerSection: live?.takeLoss()
        case .frameLost(let mid) where mid == talkSection: stream.talk.takeLoss(of: session, at: now)
        case _ where files?.receive(event) == true: break
        case .dataChannelOpened(let opened) where opened.label == DataLine.label && data != nil: data?.receive(event)
        case .dataChannelOpened, .dataChannelMessage, .dataChannelClosed:
            control?.receive(event, at: now)
            data?.receive(event)
        default: break
        }
    }

    // MARK: Control

    /// Answers a request of the control channel.
    private func perform(_ method: ControlMethod, _ params: JSONValue, _ respond: @escaping ControlServer.Respond) {
        do throws(IoTError) {
            if let viewer = viewer as? PlaybackViewer, method != .statisticsGet {
                return try viewer.perform(method, params, respond)
            }
            guard !method.isOfPlayback else {
                throw IoTError(
                    .operationNotAllowed, "only a playback channel offers '\(method.rawValue)'",
                    remedy: "open a channel of the kind playback")
            }
            switch method {
            case .talkStart: respond(.success(try startTalk()))
            case .talkStop:
                isTalking = false
                stream.talk.stop(session: session)
                respond(.success([:]))
            case .definitionGet: respond(.success(definitionReport))
            case .definitionSet: try changeDefinition(params, respond)
            case .statisticsGet: respond(.success(statisticsReport))
            default:
                throw IoTError(.operationNotAllowed, "'\(method.rawValue)' is a notification of the device")
            }
        } catch {
            respond(.failure(error))
        }
    }

    /// Sends a notification, if the caller has opened the control channel.
    var isControlBehind: Bool { control?.isBehind == true }

    func notify(_ method: ControlMethod, _ params: JSONValue) { control?.notify(method, params) }

    private func startTalk() throws(IoTError) -> JSONValue {
        guard stream.isOn else { throw IoTError(.cameraOff) }
        guard grant.actions.contains(.talk) else {
            throw IoTError(
                .relationInvalid, "this call does not allow talking", remedy: "ask the device's owner for `talk`")
        }
        guard talkSection != nil || !stream.talk.isOffered else {
            throw IoTError(
                .operationNotAllowed, "the call has no section in which the caller talks",
                remedy: "offer a sendonly audio section with Opus")
        }
        if isLive {
            // Those who watch the caller hear it, whether the loudspeaker plays it or not.
            isTalking = true
            openLoudspeaker()
            return ["talkers": 1]
        }
        try stream.talk.start(session: session, isOwner: grant.isOwner) { [weak self] reason in
            // Without the error's own message, which contains names of files and devices: not every caller may see them.
            self?.control?.notify(
                .talkEnded, IoTError(reason.code, remedy: Self.remedy(of: reason)).controlError)
        }
        return ["talkers": .integer(Int64(stream.talk.talkers))]
    }

    /// Plays the caller of a live call, if nobody else talks and the call does not ring.
    private func openLoudspeaker() {
        guard isTalking, let live, !live.isRinging else { return }
        try? stream.talk.start(session: session, isOwner: grant.isOwner) { _ in }
    }

    /// Whether it is a live call that somebody at the camera must accept, or had to.
    var rings: Bool { live?.rings ?? false }

    /// Somebody has accepted the live call, which rang.
    func accepted(at now: NIODeadline) {
        note("the live call was accepted")
        openLoudspeaker()
        viewer?.restart(at: now)
    }

    private static func remedy(of reason: IoTError) -> String {
        [.talkerBusy, .timeoutDisconnected, .cameraOff].contains(reason.code)
            ? reason.code.remedy : "ask the camera's owner: the log of its box has the reason"
    }

    private func connected(at now: NIODeadline) {
        guard !isConnected else { return }
        do throws(IoTError) {
            try stream.takePlace(session: session)
            if let live { try stream.beginLive(live) }
        } catch {
            return finish(error)
        }
        isConnected = true
        sendRotation()
        live?.connected(video: callerSection.flatMap { peer?.receivingCodecs(mid: $0).first?.videoCodec })
        note("viewer connected")
        viewer?.restart(at: now)
        // A browser sends key frames only on request, and the last one may have left the ring.
        watchedCall?.requestKeyFrame()
    }

    /// How far the pictures must be turned that are sent now; `nil` for those of the camera's source.
    var ownRotation: PictureRotation? {
        didSet { if ownRotation != oldValue { sendRotation() } }
    }

    /// The viewer turns the pictures: the camera does not decode them. Only the main camera's pictures are turned.
    func sendRotation() {
        guard isConnected, source == .main, let mid = sections[.video] else { return }
        peer?.setRotation(ownRotation ?? stream.rotation, mid: mid)
    }

    private func noteServers() {
        guard let peer, !stream.silentServers.isEmpty else { return }
        stream.silentServers.subtract(peer.answeredServers)
    }

    // MARK: Sending

    var canSend: Bool { isConnected && wantsMedia && stream.isOn && live?.isRinging != true }

    /// Starts at the newest key frame, with the sound from that time or with live sound.
    func start(video: CameraTrack?, audio: CameraTrack?, soundIsLive: Bool, at now: NIODeadline) {
        feed.start(video: video, audio: audio, soundIsLive: soundIsLive, at: now)
    }

    /// Restarts at the newest key frame; sound continues.
    func restartPicture(_ video: CameraTrack, at now: NIODeadline) {
        feed.restartPicture(video, at: now)
    }

    /// Sends what is due; `place` adapts each packet to this viewer.
    func pump(
        video: CameraTrack?, audio: CameraTrack?, at now: NIODeadline,
        _ place: (MediaPacket, MediaKind) -> MediaPacket
    ) {
        guard let peer else { return }
        var run: [MediaPacket] = []
        var kind = MediaKind.video
        for next in feed.next(video: video, audio: audio, at: now) {
            if next.kind != kind, !run.isEmpty {
                send(run, kind, through: peer)
                run.removeAll(keepingCapacity: true)
            }
            kind = next.kind
            run.append(place(next.packet, kind))
        }
        if !run.isEmpty { send(run, kind, through: peer) }
        schedule()
    }

    private func send(_ packets: [MediaPacket], _ kind: MediaKind, through peer: any ViewerPeer) {
        guard let mid = sections[kind] else { return }
        peer.send(packets, mid: mid)
    }

    private func schedule() {
        guard timer == nil, let timeout = feed.timeout else { return }
        timer = stream.eventLoop.assumeIsolated().scheduleTask(deadline: timeout) { [weak self] in
            guard let self else { return }
            timer = nil
            viewer?.pump(at: stream.eventLoop.now)
        }
    }

    func pause() {
        feed.stop()
        timer?.cancel()
        timer = nil
    }

    // MARK: The end

    /// - Parameter reason: `nil` if the viewer itself left.
    func finish(_ reason: IoTError?) {
        guard let peer else { return }
        noteServers()
        self.peer = nil
        pause()
        endChanges(reason ?? IoTError(.hungUp))
        data?.close(isLeaving: false)
        files?.close(isLeaving: false)
        viewer?.ended()
        peer.close()
        stream.remove(session: session)
        note("viewer left", reason)
        onEnd(reason)
    }

    func note(_ message: Logger.Message, _ reason: IoTError? = nil) {
        var metadata: Logger.Metadata = [
            "viewer.user": "\(grant.user)", "viewer.session": "\(session)",
            "viewer.definition": "\(definition.rawValue)",
        ]
        if let reason { metadata["error.code"] = "\(reason.code.rawValue)" }
        stream.logger.info(message, metadata: metadata)
    }
}
