import IoTCore
import NIOCore
import PeerTransport

/// One viewer of a camera: its peer connection and its feed. Confined to the camera's event loop.
final class CameraViewer {
    let session: String
    let grant: CallGrant
    private let stream: CameraStream
    private let onEnd: (IoTError?) -> Void

    private var peer: Peer?
    private var feed = ViewerFeed()
    private var isConnected = false
    private var wantsMedia: Bool
    private var timer: Scheduled<Void>?

    /// `wantsMedia`: begin as soon as the connection stands, without a `play` command.
    /// `onEnd` is called once, with the reason.
    init(
        session: String, grant: CallGrant, stream: CameraStream, wantsMedia: Bool,
        onEnd: @escaping (IoTError?) -> Void
    ) {
        self.session = session
        self.grant = grant
        self.stream = stream
        self.wantsMedia = wantsMedia
        self.onEnd = onEnd
    }

    /// The offer with the camera's tracks. Audio is `sendrecv` from the first offer, so that talking never
    /// renegotiates.
    func makeOffer(socket: PeerSocket, certificate: PeerCertificate) throws(IoTError) -> SessionDescription {
        var configuration = PeerConfiguration(hostAddresses: socket.hostAddresses, isControlling: true)
        if let video = stream.video {
            configuration.sections.append(
                MediaSection(
                    mid: CameraStream.Section.video, kind: .video, direction: .sendOnly, codecs: [video.codec],
                    cname: session))
        }
        if let audio = stream.audio {
            configuration.sections.append(
                MediaSection(
                    mid: CameraStream.Section.audio, kind: .audio, direction: .sendReceive, codecs: [audio.codec],
                    cname: session))
        }
        let peer = try socket.makePeer(configuration: configuration, certificate: certificate) { [weak self] event in
            self?.handle(event)
        }
        self.peer = peer
        return try peer.createOffer()
    }

    func setAnswer(_ answer: SessionDescription) throws(IoTError) {
        guard let peer else { throw IoTError(.hungUp) }
        try peer.setAnswer(answer)
    }

    func addRemoteCandidate(_ candidate: String) throws(IoTError) {
        guard let peer else { throw IoTError(.hungUp) }
        try peer.addRemoteCandidate(candidate)
    }

    func perform(_ command: CallCommand, at now: NIODeadline) {
        switch command {
        case .play:
            wantsMedia = true
            restart(at: now)
        case .stop:
            wantsMedia = false
            pause()
        }
    }

    /// Begins anew at the newest key frame.
    func restart(at now: NIODeadline) {
        guard isConnected, wantsMedia, stream.isOn else { return }
        feed.start(video: stream.video, audio: stream.audio, at: now)
        clockChanged()
        pump(at: now)
    }

    func pause() {
        feed.stop()
        timer?.cancel()
        timer = nil
    }

    /// Both tracks' sender reports tie to the source's one clock.
    func clockChanged() {
        guard let clock = stream.clock else { return }
        peer?.mediaClockAnchor = MediaClockAnchor(pts: clock.pts, wallClock: clock.wall)
    }

    /// Sends what is due.
    func pump(at now: NIODeadline) {
        guard let peer else { return }
        var run: [MediaPacket] = []
        var kind = MediaKind.video
        for next in feed.next(video: stream.video, audio: stream.audio, at: now) {
            if next.kind != kind, !run.isEmpty {
                peer.send(run, mid: kind.rawValue)
                run.removeAll(keepingCapacity: true)
            }
            kind = next.kind
            run.append(next.packet)
        }
        if !run.isEmpty { peer.send(run, mid: kind.rawValue) }
        schedule(at: now)
    }

    private func schedule(at now: NIODeadline) {
        guard timer == nil, let timeout = feed.timeout else { return }
        timer = stream.eventLoop.assumeIsolated().scheduleTask(deadline: timeout) { [weak self] in
            guard let self else { return }
            timer = nil
            pump(at: .now())
        }
    }

    private func handle(_ event: PeerEvent) {
        switch event {
        case .stateChanged(.connected):
            isConnected = true
            restart(at: .now())
        case .stateChanged(.failed(let error)):
            finish(error)
        case .stateChanged(.closed):
            finish(nil)
        case .retransmissionRequested(let mid, let sequences):
            guard let ring = (mid == CameraStream.Section.video ? stream.video : stream.audio)?.ring else { return }
            for sequence in sequences {
                if let packet = ring.packet(sequence: sequence) { peer?.resend(packet, mid: mid) }
            }
        default:
            break
        }
    }

    /// Ends the viewer from the camera's side.
    func end(_ reason: IoTError) {
        finish(reason)
    }

    /// The viewer itself left: it need not be told.
    func hungUp() {
        finish(nil)
    }

    private func finish(_ reason: IoTError?) {
        guard let peer else { return }
        self.peer = nil
        pause()
        peer.close()
        stream.remove(session: session)
        onEnd(reason)
    }
}
