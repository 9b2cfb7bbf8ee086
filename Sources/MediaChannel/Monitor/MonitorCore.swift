import IoTCore
import Logging
import MediaPlayer
import NIOCore
import PeerTransport

/// A monitor channel's parts, driven by its peer's events, its timers and its users. Confined to one event loop.
final class MonitorCore {
    let eventLoop: any EventLoop
    private let logger: Logger

    private var machine = PlayerStateMachine()
    private(set) var state = MonitorState()
    private var peer: Peer?
    private var kinds: [String: MediaKind] = [:]
    private var codecs: [MediaKind: RTPCodec] = [:]
    private var receiver: ChannelReceiver?
    private var parameters: (video: VideoParameters?, audio: AudioParameters?) = (nil, nil)
    private var stage: DecodeStage?
    private let decodeEvents = DecodeEvents()
    /// The whole channel's; those of its users are in `uses`.
    private var statistics: PlayoutStatistics?
    private var startedAt: NIODeadline?
    private var uses: [String: MonitorUse] = [:]
    private var recordings: [RecordingFeed] = []
    /// What was released since the newest key frame, with the time at which it is presented: a recording that begins
    /// while the channel plays begins here.
    private var group = GroupOfPictures()
    /// An older group is not part of what is seen now: the camera was off, or its source was gone.
    private static let groupLife = TimeAmount.seconds(2)
    /// Breaks announced by the jitter buffer, to be told with the frame behind them.
    private var breaks: [MediaKind: DiscontinuityReason] = [:]
    private var countedSkips = 0
    private var ticker: RepeatedTask?
    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
    private var farewell: Scheduled<Void>?
    private static let farewellTime = TimeAmount.milliseconds(500)
    private var connected: EventLoopPromise<Void>?
    private var hasEnded = false
    private var earlyCandidates: [String] = []
    private static let maximumEarlyCandidates = 32
    private static let maximumCandidateLength = 1_024
    /// Takes candidates of ours that come after the answer; empty text ends them.
    private let onCandidate: (String) -> Void

    /// By how much a frame may go to the decoder early to spare a wake-up: a little more than lies between two frames
    /// of sound (20 to 23 ms), so that each wake-up takes at least two of them.
    private static let coalescing = TimeAmount.milliseconds(25)

    init(eventLoop: any EventLoop, logger: Logger, onCandidate: @escaping (String) -> Void) {
        self.eventLoop = eventLoop
        self.onCandidate = onCandidate
        self.logger = logger
    }

    // MARK: Connecting

    /// The connection is to be made; completes when it stands and the tracks are known.
    func beginPreparing() throws(IoTError) -> EventLoopFuture<Void> {
        perform(try machine.handle(.prepare))
        let promise = eventLoop.makePromise(of: Void.self)
        connected = promise
        setConnection(.connecting, .wakingDevice)
        return promise.futureResult
    }

    /// The device's offer: makes the peer and answers. Candidates that the servers tell of follow the answer.
    func answer(
        _ offer: SessionDescription, iceServers: [ICEServer], areNamedByDevice: Bool, socket: PeerSocket,
        certificate: PeerCertificate
    ) throws(IoTError) -> SessionDescription {
        guard peer == nil, connected != nil else { throw IoTError(.duplicateCall) }
        var configuration = PeerConfiguration(hostAddresses: socket.hostAddresses, isControlling: false)
        configuration.ice.servers = iceServers
        configuration.ice.refusesLocalServers = areNamedByDevice
        let peer = try socket.makePeer(configuration: configuration, certificate: certificate) { [weak self] event in
            self?.handle(event)
        }
        let answer: SessionDescription
        do throws(IoTError) {
            answer = try peer.createAnswer(to: offer) { $0.codecs.contains { $0.trackParameters != nil } }
        } catch {
            peer.close()
            throw error
        }
        self.peer = peer
        for candidate in earlyCandidates { try? peer.addRemoteCandidate(candidate) }
        earlyCandidates = []
        for section in answer.sections {
            guard let codec = section.codecs.first else { continue }
            kinds[section.mid] = section.kind
            codecs[section.kind] = codec
        }
        let receiver = ChannelReceiver(codecs: codecs, now: .now())
        parameters = (receiver.video, receiver.audio)
        // The stage holds this core until `disconnect` lets go of the stage.
        let core = NIOLoopBound(self, eventLoop: eventLoop)
        stage = DecodeStage(
            video: receiver.video, audio: receiver.audio, logger: logger, events: decodeEvents
        ) {
            core.eventLoop.execute { core.value.takeDecodeEvents(at: .now()) }
        }
        setConnection(.connecting, .handshaking)
        return answer
    }

    /// One of the device's, which may overtake its offer.
    func addRemoteCandidate(_ candidate: String) {
        if let peer {
            try? peer.addRemoteCandidate(candidate)
        } else if !hasEnded, earlyCandidates.count < Self.maximumEarlyCandidates,
            candidate.utf8.count <= Self.maximumCandidateLength
        {
            earlyCandidates.append(candidate)
        }
    }

    /// The call did not come about, or the other end ended it.
    func fail(_ error: IoTError) {
        perform(machine.handle(.failed(error)))
    }

    // MARK: Playing

    /// True when the device is to be told to send: the first call, and none after it.
    func beginPlaying(_ id: String) throws(IoTError) -> Bool {
        guard let use = uses[id] else { throw IoTError(.channelDisconnected) }
        let actions = try machine.handle(.play)
        let starts = actions.contains { if case .startMedia = $0 { true } else { false } }
        if starts {
            let now = NIODeadline.now()
            receiver = ChannelReceiver(
                codecs: codecs, options: JitterBufferOptions(coalescing: Self.coalescing), now: now)
            countedSkips = 0
            startedAt = now
            statistics = PlayoutStatistics(startedAt: now)
            let core = NIOLoopBound(self, eventLoop: eventLoop)
            ticker = eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
                core.value.publishStatistics()
            }
        }
        if use.statistics == nil { use.statistics = PlayoutStatistics(startedAt: .now(), after: baseline()) }
        perform(actions)
        return starts
    }

    /// What the channel has counted by now; `nil` when it has just begun.
    private func baseline() -> PlayoutBaseline? {
        guard let startedAt, let receiver else { return nil }
        updateStatistics()
        return PlayoutBaseline(startedAt: startedAt, report: receiver.jitterBuffer.report, packets: packets())
    }

    /// Changes the channel's statistics and those of each use that plays.
    private func count(_ change: (inout PlayoutStatistics) -> Void) {
        if statistics != nil { change(&statistics!) }
        for use in uses.values where use.statistics != nil { change(&use.statistics!) }
    }

    /// Ends the channel in order: what was received comes out, and every sink ends.
    func stop() {
        guard let actions = try? machine.handle(.stop) else { return }
        perform(actions)
        if !hasEnded { disconnect(nil) }
    }

    private func handle(_ event: PeerEvent) {
        let now = NIODeadline.now()
        switch event {
        case .stateChanged(.connected):
            setConnection(.connected, .ready)
            perform(machine.handle(.headerKnown))
            connected?.succeed()
            connected = nil
        case .stateChanged(.failed(let error)):
            perform(machine.handle(.failed(error)))
            disconnect(error)
        case .stateChanged(.closed):
            awaitReason()
        case .localCandidate(let candidate):
            onCandidate(candidate)
            return
        case .frame(let mid, let received):
            guard receiver != nil, kinds[mid] != nil else { return }
            count {
                $0.frameReceived(
                    received.frame.kind, bytes: received.frame.bytes.readableBytes, at: received.lastArrival)
            }
            receiver?.receive(received, at: now)
        case .frameLost(let mid):
            guard let kind = kinds[mid] else { return }
            receiver?.frameLost(kind, at: now)
        case .senderReport(let mid, let mapping):
            guard let kind = kinds[mid] else { return }
            receiver?.senderReport(kind, mapping, at: now)
        default:
            return
        }
        pump(at: now)
    }

    // MARK: Playout

    private func pump(at now: NIODeadline) {
        takeDecodeEvents(at: now)
        while let output = receiver?.poll() {
            switch output {
            case .release(_, let frame, let presentAt, let isLate):
                release(frame, presentAt: presentAt, isLate: isLate, at: now)
            case .lost(let kind):
                count { $0.framesDropped(kind, .lost) }
                if kind == .video {
                    stage?.skipToKeyFrame()
                    group.removeAll()
                }
            case .requestKeyFrame:
                if let mid = kinds.first(where: { $0.value == .video })?.key { peer?.requestKeyFrame(mid: mid) }
            case .conceal:
                break
            case .discontinuity(let kind, let reason):
                if kind == .video { stage?.drain() }
                breaks[kind] = reason
            case .stalled(let tolerance, let delay):
                perform(machine.handle(.starved(tolerance: tolerance, delay: delay)))
            case .resumed, .reachedLiveEdge:
                break
            case .timeout(let deadline):
                schedule(deadline)
                return
            }
        }
        timer?.task.cancel()
        timer = nil
    }

    private func schedule(_ deadline: NIODeadline) {
        // A timer that rings too early costs one look. The loop wakes at its time even when it was cancelled, so that
        // a new one for each frame would spare nothing.
        if let timer, timer.deadline <= deadline { return }
        timer?.task.cancel()
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in
            guard let self else { return }
            timer = nil
            let now = NIODeadline.now()
            receiver?.handleTimeout(at: now)
            pump(at: now)
        }
        timer = (deadline, task)
    }

    private func release(_ frame: MediaFrame, presentAt: NIODeadline, isLate: Bool, at now: NIODeadline) {
        if let reason = breaks.removeValue(forKey: frame.kind) {
            publish(
                .discontinuity(frame.kind, reason, pts: frame.pts, frame.kind == .video ? receiver?.video : nil))
        }
        if stage?.decode(frame, presentAt: presentAt, isLate: isLate) == false {
            count { $0.framesDropped(frame.kind, .slowReader) }
            if frame.kind == .video { receiver?.frameLost(.video, at: now) }
        }
        group.append(frame, at: presentAt)
        for index in recordings.indices {
            recordings[index].take(frame, presentAt: presentAt) { receiver?.senderTime($0.kind, pts: $0.pts) }
        }
        recordings.removeAll { $0.sink.isClosed }
    }

    /// What the decoding thread has told since the last look.
    private func takeDecodeEvents(at now: NIODeadline) {
        for event in decodeEvents.take(at: now) { handle(event) }
    }

    private func handle(_ event: DecodeEvent) {
        switch event {
        case .picture(let picture):
            for use in uses.values where use.firstPicturePts == nil { use.firstPicturePts = picture.pts }
            count {
                $0.frameDecoded(.video, isKeyFrame: picture.isKeyFrame)
                $0.pictureSize(width: picture.width, height: picture.height)
            }
            guard picture.isShown else {
                count { $0.framesDropped(.video, .late) }
                return
            }
            // The delay may have moved since the frame went to the decoder.
            let presentAt = receiver?.jitterBuffer.presentTime(ofReleasedPicture: picture.pts)
            let senderTime = receiver?.senderTime(.video, pts: picture.pts)
            let presented = max(presentAt ?? picture.presentedAt, picture.decodedAt)
            count { $0.framePresented(.video, senderMicroseconds: senderTime, at: presented) }
            perform(machine.handle(.frameShown))
        case .sound(let pts, let presentAt, let isLate):
            count { $0.frameDecoded(.audio) }
            guard !isLate else {
                count { $0.framesDropped(.audio, .late) }
                return
            }
            let senderTime = receiver?.senderTime(.audio, pts: pts)
            count { $0.framePresented(.audio, senderMicroseconds: senderTime, at: presentAt) }
            if parameters.video == nil { perform(machine.handle(.frameShown)) }
        case .corrupt(let kind):
            count { $0.framesDropped(kind, .corrupt) }
        case .slowReader(let frames):
            count { $0.framesDropped(.video, .slowReader, count: frames) }
            publish(.warning(IoTError(.slowReader)))
        }
    }

    // MARK: Sinks

    func addRecording(frames: Int?) throws(IoTError) -> RecordingSink {
        guard stage != nil, !hasEnded else { throw IoTError(.channelDisconnected) }
        let video = receiver?.video ?? parameters.video
        guard frames == nil || video != nil else { throw Self.noPicture() }
        let sink = RecordingSink(video: video, audio: receiver?.audio ?? parameters.audio, frames: frames)
        var feed = RecordingFeed(sink: sink)
        if let newest = group.entries.last, NIODeadline.now() - newest.time < Self.groupLife {
            for entry in group.entries {
                feed.take(entry.frame, presentAt: entry.time) { receiver?.senderTime($0.kind, pts: $0.pts) }
            }
        }
        recordings.append(feed)
        return sink
    }

    static func noPicture() -> IoTError {
        IoTError(.operationNotAllowed, "the camera sends no picture", remedy: "ask for its sound only")
    }

    /// The decoding thread, and the picture's parameters as now known.
    func decoding() throws(IoTError) -> (stage: DecodeStage, video: VideoParameters?, audio: AudioParameters?) {
        guard let stage, !hasEnded else { throw IoTError(.channelDisconnected) }
        return (stage, receiver?.video ?? parameters.video, parameters.audio)
    }

    // MARK: Users

    func join(_ id: String) {
        uses[id] = MonitorUse(eventLoop: eventLoop)
    }

    /// The use's events end; the channel goes on for others.
    func leave(_ id: String) {
        uses.removeValue(forKey: id)?.subscribers.publish(.ended(nil))
    }

    func subscribe(_ id: String) -> AsyncStream<MonitorEvent> {
        guard let use = uses[id] else { return AsyncStream { $0.finish() } }
        return use.subscribers.add(first: [.stateChanged(state)] + (hasEnded ? [.ended(state.reason)] : []))
    }

    func isWatched(by id: String) -> Bool { uses[id]?.subscribers.isEmpty == false }

    /// - Parameter id: a use, with statistics of its own; `nil` for the whole channel. A use that left has stopped.
    func describe(_ id: String? = nil) -> MonitorDescription {
        let now = NIODeadline.now()
        takeDecodeEvents(at: now)
        updateStatistics()
        let use = id.flatMap { uses[$0] }
        let hasLeft = id != nil && use == nil
        return MonitorDescription(
            state: hasLeft ? MonitorState() : state, video: receiver?.video ?? parameters.video,
            audio: parameters.audio,
            statistics: id == nil ? statistics?.snapshot(at: now) : use?.statistics?.snapshot(at: now),
            roundTripTime: peer?.statistics.currentRoundTripTime.map { Double($0.nanoseconds) / 1e9 },
            firstPicturePts: use?.firstPicturePts)
    }

    private func updateStatistics() {
        if let report = receiver?.jitterBuffer.report {
            count { $0.update(report) }
            // What came between a lost picture and the next key frame is lost with it.
            let skipped = report.skippedFrames - countedSkips
            count { $0.framesDropped(.video, .lost, count: skipped) }
            countedSkips = report.skippedFrames
        }
        for (kind, packets) in packets() { count { $0.update(kind, packets: packets) } }
    }

    private func packets() -> [MediaKind: PacketCounters] {
        guard let inbound = peer?.statistics.inbound else { return [:] }
        var packets: [MediaKind: PacketCounters] = [:]
        for (mid, kind) in kinds { packets[kind] = inbound[mid].map { PacketCounters($0) } }
        return packets
    }

    private func publishStatistics() {
        for (id, use) in uses where !use.subscribers.isEmpty && use.statistics != nil {
            use.subscribers.publish(.statistics(describe(id)))
        }
    }

    private func publish(_ event: MonitorEvent) {
        for use in uses.values { use.subscribers.publish(event) }
    }

    private func setConnection(_ status: ConnectionStatus, _ substate: ConnectionSubstate?) {
        state.connection = status
        state.substate = substate
        publish(.stateChanged(state))
    }

    private func perform(_ actions: [PlayerStateMachine.Action]) {
        for action in actions {
            switch action {
            case .connect, .startMedia:
                // Asynchronous: the caller of `beginPreparing` and `beginPlaying` does it.
                break
            case .disconnect:
                disconnect(machine.lastError)
            case .report(.statusChanged(_, let status)):
                state.player = status
                state.reason = machine.lastError
                publish(.stateChanged(state))
            case .report(.error(let error, let isFatal)):
                if !isFatal { publish(.warning(error)) }
            case .report(.jitterStalled(let tolerance, let delay)):
                logger.info(
                    "jitter stalled",
                    metadata: [
                        "playout.tolerance_ms": "\(tolerance.nanoseconds / 1_000_000)",
                        "playout.delay_ms": "\(delay.nanoseconds / 1_000_000)",
                    ])
            }
        }
    }

    /// The device closed the connection. Why comes over the link, by another way, and may be later: an operator is
    /// to read that the sharing was ended, not that somebody hung up.
    private func awaitReason() {
        guard !hasEnded, farewell == nil else { return }
        let core = NIOLoopBound(self, eventLoop: eventLoop)
        farewell = eventLoop.scheduleTask(in: Self.farewellTime) {
            core.value.disconnect(IoTError(.hungUp, "the device closed the channel"))
        }
    }

    private func disconnect(_ reason: IoTError?) {
        guard !hasEnded else { return }
        hasEnded = true
        farewell?.cancel()
        farewell = nil
        let now = NIODeadline.now()
        receiver?.flush(at: now)
        pump(at: now)
        timer?.task.cancel()
        timer = nil
        ticker?.cancel()
        ticker = nil
        peer?.close()
        recordings.forEach { $0.sink.end(nil) }
        recordings = []
        stage?.end(nil)
        stage = nil
        connected?.fail(reason ?? IoTError(.hungUp, "the channel was closed"))
        connected = nil
        setConnection(.disconnected, nil)
        perform(machine.handle(.disconnected(reason)))
        publish(.ended(reason))
    }
}
