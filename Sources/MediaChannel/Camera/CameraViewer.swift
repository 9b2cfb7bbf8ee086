import IoTCore
import Logging
import NIOCore
import PeerTransport
import RTP

/// One viewer of a camera: its peer connection and its feed. Confined to the camera's event loop.
final class CameraViewer {
    let session: String
    let grant: CallGrant
    private let stream: CameraStream
    private let iceServers: ICEServers
    private let onEnd: (IoTError?) -> Void

    /// How long the servers may take to tell of our candidates; then the description goes without.
    private static let gatheringTimeout: TimeAmount = .seconds(2)
    private var gathering: EventLoopPromise<Void>?
    /// Takes the candidates that a peer of our own kind is told one by one.
    private var candidates: CandidateFeed?

    private var peer: Peer?
    private var feed = ViewerFeed()
    private var isConnected = false
    private var wantsMedia: Bool
    private var timer: Scheduled<Void>?
    /// The peer's names of the sections in which media go.
    private var sections: [MediaKind: String] = [:]
    private var sound = BrowserOffer.Sound.original
    /// A browser's; `nil` for a peer of our own kind, which plays the source's clock.
    private var browserClock: BrowserClock?
    /// The newest picture that was sent, on the source's clock.
    private var lastSent: Int64?
    private var recovery = KeyFrameRecovery()

    /// `wantsMedia`: begin as soon as the connection stands, without a `play` command.
    /// `onEnd` is called once, with the reason.
    init(
        session: String, grant: CallGrant, stream: CameraStream, wantsMedia: Bool,
        iceServers: ICEServers = .none, onEnd: @escaping (IoTError?) -> Void
    ) {
        self.session = session
        self.grant = grant
        self.stream = stream
        self.wantsMedia = wantsMedia
        self.iceServers = iceServers
        self.onEnd = onEnd
    }

    /// Offers the camera's tracks. Audio is `sendrecv` from the first offer, so that talking never
    /// renegotiates.
    ///
    /// - Parameter candidates: takes those that come after the offer.
    func makeOffer(
        socket: PeerSocket, certificate: PeerCertificate, candidates: CandidateFeed
    ) throws(IoTError) -> EventLoopFuture<String> {
        self.candidates = candidates
        var configuration = configuration(socket, isControlling: true)
        // Nothing slows a camera's encoder down yet, so that an estimate could only leave frames out.
        configuration.congestion.isEnabled = false
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
        sections = [.video: CameraStream.Section.video, .audio: CameraStream.Section.audio]
        return stream.eventLoop.makeSucceededFuture(try peer.createOffer().text)
    }

    private func configuration(_ socket: PeerSocket, isControlling: Bool) -> PeerConfiguration {
        var configuration = PeerConfiguration(hostAddresses: socket.hostAddresses, isControlling: isControlling)
        configuration.ice.servers = iceServers.servers(for: session, at: WallClock.milliseconds() / 1000)
        // Who offers tells of later candidates; an answer to a browser would have to wait for them.
        if !isControlling { configuration.ice.serversNotAwaited = stream.silentServers }
        return configuration
    }

    /// Our description as text, when all our candidates are in it, or the servers have had their time.
    func gathered() -> EventLoopFuture<String> {
        let eventLoop = stream.eventLoop
        guard let peer else { return eventLoop.makeFailedFuture(IoTError(.hungUp)) }
        let promise = eventLoop.makePromise(of: Void.self)
        if peer.localDescription?.hasEndOfCandidates == true {
            promise.succeed()
        } else {
            gathering = promise
            let timeout = eventLoop.assumeIsolated().scheduleTask(in: Self.gatheringTimeout) { [weak self] in
                self?.gatheringTimedOut()
            }
            promise.futureResult.whenComplete { _ in timeout.cancel() }
        }
        return promise.futureResult.assumeIsolated().flatMapThrowing { [weak self] in
            guard let description = self?.peer?.localDescription else { throw IoTError(.hungUp) }
            return description.text
        }.nonisolated()
    }

    /// The servers that have not answered are not waited for again until they have.
    private func gatheringTimedOut() {
        let silent = peer?.unansweredServers ?? []
        if !silent.isEmpty {
            stream.logger.debug("ICE servers do not answer", metadata: ["ice.servers": "\(silent.sorted())"])
        }
        stream.silentServers.formUnion(silent)
        endGathering()
    }

    private func noteServers() {
        guard let peer, !stream.silentServers.isEmpty else { return }
        stream.silentServers.subtract(peer.answeredServers)
    }

    private func endGathering() {
        gathering?.succeed()
        gathering = nil
    }

    /// Answers a browser's offer. Media go as the browser takes them, on a clock that it can play.
    ///
    /// - Throws: `codecUnsupported` when it cannot show the camera's picture, with what to do about it.
    func makeAnswer(
        to offer: SessionDescription, socket: PeerSocket, certificate: PeerCertificate
    ) throws(IoTError) {
        if offer.malformedCandidates > 0 {
            stream.logger.debug(
                "candidates that cannot be read were ignored", metadata: ["ice.count": "\(offer.malformedCandidates)"])
        }
        let choice = try BrowserOffer(
            offer, video: stream.video?.codec, isReordered: stream.isReordered, audio: stream.audio?.codec)
        var configuration = configuration(socket, isControlling: false)
        if let mid = choice.video, let track = stream.video {
            sections[.video] = mid
            configuration.sections.append(section(.video, mid: mid, track))
        }
        if let (mid, sound) = choice.audio {
            do throws(IoTError) {
                if sound == .opus { try stream.addOpusListener() }
                self.sound = sound
                sections[.audio] = mid
                if let audio { configuration.sections.append(section(.audio, mid: mid, audio)) }
            } catch {
                // Sound that cannot be decoded takes no picture away.
                guard choice.video != nil else { throw error }
            }
        }
        browserClock = BrowserClock()
        let names = Set(sections.values)
        do throws(IoTError) {
            let peer = try socket.makePeer(configuration: configuration, certificate: certificate) {
                [weak self] event in self?.handle(event)
            }
            self.peer = peer
            _ = try peer.createAnswer(to: offer) { names.contains($0.mid) }
        } catch {
            if peer == nil { releaseSound() } else { finish(nil) }
            throw error
        }
    }

    private func section(_ kind: MediaKind, mid: String, _ track: CameraTrack) -> MediaSection {
        MediaSection(mid: mid, kind: kind, direction: .sendOnly, codecs: [track.codec], cname: session)
    }

    var isBrowser: Bool { browserClock != nil }

    /// The sound that this viewer gets.
    private var audio: CameraTrack? {
        guard sections[.audio] != nil else { return nil }
        return sound == .opus ? stream.opus : stream.audio
    }

    private var video: CameraTrack? {
        sections[.video] == nil ? nil : stream.video
    }

    func setAnswer(_ answer: SessionDescription) throws(IoTError) {
        guard let peer else { throw IoTError(.hungUp) }
        try peer.setAnswer(answer)
    }

    /// One that cannot be read is ignored, so that it takes no other with it.
    func addRemoteCandidate(_ candidate: String) throws(IoTError) {
        guard let peer else { throw IoTError(.hungUp) }
        do {
            try peer.addRemoteCandidate(candidate)
        } catch {
            stream.logger.debug(
                "a candidate that cannot be read was ignored", metadata: ["error.message": "\(error.message)"])
        }
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
        recovery.started(at: now)
        feed.start(video: video, audio: audio, soundIsLive: isBrowser, at: now)
        beginClock()
        clockChanged()
        pump(at: now)
    }

    private func beginClock() {
        guard let edge = stream.newest?.pts else { return }
        let start = video.flatMap { $0.ring.packet(sequence: $0.startSequence)?.pts } ?? edge
        browserClock?.begin(start: start, edge: edge, after: lastSent)
    }

    /// The viewer says that it cannot decode without a key frame.
    private func keyFrameRequested(mid: String, at now: NIODeadline) {
        // A peer of our own kind gets no picture twice: its clock is the source's.
        guard isBrowser, mid == sections[.video], let peer, let video, let next = feed.nextPicture else { return }
        let action = recovery.keyFrameRequested(
            lacking: peer.undelivered(mid: mid), keyFrame: video.ring.newestKeyFrame, sent: next, at: now)
        switch action {
        case .none: break
        case .repair(let sequences): peer.repair(sequences, mid: mid)
        case .restart:
            recovery.started(at: now)
            feed.restartPicture(video, at: now)
            beginClock()
            clockChanged()
            pump(at: now)
        }
    }

    func pause() {
        feed.stop()
        timer?.cancel()
        timer = nil
    }

    /// Both tracks' sender reports tie to the source's one clock.
    func clockChanged() {
        guard let clock = stream.clock else { return }
        peer?.mediaClockAnchor = MediaClockAnchor(
            pts: browserClock?.live(clock.pts) ?? clock.pts, wallClock: clock.wall)
    }

    /// The source's clock jumped: `pts` comes where `expected` would have come.
    func clockJumped(to pts: Int64, expected: Int64) {
        browserClock?.jump(to: pts, expected: expected)
    }

    /// Sends what is due.
    func pump(at now: NIODeadline) {
        guard let peer else { return }
        var run: [MediaPacket] = []
        var kind = MediaKind.video
        let (video, audio) = (video, audio)
        for next in feed.next(video: video, audio: audio, at: now) {
            if next.kind != kind, !run.isEmpty {
                send(run, kind, through: peer)
                run.removeAll(keepingCapacity: true)
            }
            kind = next.kind
            run.append(placed(next.packet, kind, (kind == .video ? video : audio)?.codec.clockRate))
            if kind == .video { lastSent = max(lastSent ?? next.packet.pts, next.packet.pts) }
        }
        if !run.isEmpty { send(run, kind, through: peer) }
        schedule(at: now)
    }

    private func send(_ packets: [MediaPacket], _ kind: MediaKind, through peer: Peer) {
        guard let mid = sections[kind] else { return }
        peer.send(packets, mid: mid)
    }

    /// The packet on this viewer's clock.
    private func placed(_ packet: MediaPacket, _ kind: MediaKind, _ clockRate: Int?) -> MediaPacket {
        guard let browserClock, let clockRate else { return packet }
        let pts = kind == .video ? browserClock.place(packet.pts) : browserClock.placeSound(packet.pts)
        return packet.moved(to: pts, clockRate: clockRate)
    }

    private func schedule(at now: NIODeadline) {
        guard timer == nil, let timeout = feed.timeout else { return }
        timer = stream.eventLoop.assumeIsolated().scheduleTask(deadline: timeout) { [weak self] in
            guard let self else { return }
            timer = nil
            pump(at: stream.eventLoop.now)
        }
    }

    private func handle(_ event: PeerEvent) {
        switch event {
        case .stateChanged(.connected):
            guard !isConnected else { break }
            do throws(IoTError) {
                try stream.takePlace(session: session)
            } catch {
                return finish(error)
            }
            isConnected = true
            note("viewer connected")
            restart(at: stream.eventLoop.now)
        case .stateChanged(.failed(let error)):
            finish(error)
        case .stateChanged(.closed):
            finish(nil)
        case .localCandidate(let candidate):
            noteServers()
            if let candidates { candidates.tell(candidate) } else if candidate.isEmpty { endGathering() }
        case .keyFrameRequested(let mid):
            keyFrameRequested(mid: mid, at: stream.eventLoop.now)
        case .retransmissionRequested(let mid, let sequences):
            let kind = mid == sections[.video] ? MediaKind.video : .audio
            guard let track = kind == .video ? video : audio else { return }
            for sequence in sequences {
                guard let packet = track.ring.packet(sequence: sequence) else { continue }
                peer?.resend(placed(packet, kind, track.codec.clockRate), mid: mid)
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
        noteServers()
        self.peer = nil
        candidates = nil
        endGathering()
        pause()
        releaseSound()
        peer.close()
        stream.remove(session: session)
        note("viewer left", reason)
        onEnd(reason)
    }

    private func note(_ message: Logger.Message, _ reason: IoTError? = nil) {
        var metadata: Logger.Metadata = ["viewer.user": "\(grant.user)", "viewer.session": "\(session)"]
        if let reason { metadata["error.code"] = "\(reason.code.rawValue)" }
        stream.logger.info(message, metadata: metadata)
    }

    private func releaseSound() {
        guard sound == .opus else { return }
        sound = .original
        sections[.audio] = nil
        stream.removeOpusListener()
    }
}
