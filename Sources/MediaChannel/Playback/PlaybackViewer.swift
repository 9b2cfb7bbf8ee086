import IoTCore
import Logging
import MediaCodec
import NIOCore
import PeerTransport
import RTP

/// A gateway to which a camera's recordings are played. The camera's source and its viewers' places do not matter.
/// Confined to the camera's event loop.
final class PlaybackViewer: CalledViewer {
    let connection: ViewerConnection
    private let recordings: CallRecordings
    private let files: CallRecordings
    private var video: CameraTrack?
    private var audio: CameraTrack?
    private var session: PlaybackSession
    private var replay = PlaybackReplay()
    /// Playback that was asked for before the media were.
    private var wanted: (time: Int64, end: Int64?)?
    /// Reads of an earlier epoch are not used.
    private var epoch = 0
    private var hasStarted = false
    /// The caller has stopped the media.
    private var isHeld = false
    private var timer: Scheduled<Void>?
    private var candidates: CandidateFeed?

    let hearsOpus = false
    let canReorder = true
    private var eventLoop: any EventLoop { connection.stream.eventLoop }

    /// - Parameter tracks: of the newest recording.
    init(
        _ connection: ViewerConnection, _ recordings: CallRecordings, files: CallRecordings, tracks: SegmentTracks
    ) {
        self.connection = connection
        self.recordings = recordings
        self.files = files
        video = tracks.video.map {
            CameraTrack(parameters: .video($0), payloadType: CameraStream.Section.videoPayloadType)
        }
        audio = tracks.audio.map {
            CameraTrack(parameters: .audio($0), payloadType: CameraStream.Section.audioPayloadType)
        }
        session = PlaybackSession(now: Self.microseconds(connection.stream.eventLoop.now))
        connection.viewer = self
        connection.ownRotation = tracks.video?.rotation ?? PictureRotation.none
    }

    private static func microseconds(_ time: NIODeadline) -> Int64 { Int64(time.uptimeNanoseconds / 1_000) }

    /// Returns an offer of the recordings' tracks.
    ///
    /// - Parameter candidates: receives the candidates that follow the offer.
    func makeOffer(candidates: CandidateFeed) throws(IoTError) -> String {
        self.candidates = candidates
        var configuration = connection.configuration(isControlling: true)
        // What is recorded cannot be made smaller.
        configuration.congestion.isEnabled = false
        if let video {
            configuration.sections.append(connection.section(.video, mid: CameraStream.Section.video, video))
        }
        if let audio {
            configuration.sections.append(connection.section(.audio, mid: CameraStream.Section.audio, audio))
        }
        configuration.dataChannels = .call
        let peer = try connection.makePeer(configuration)
        connection.files = FileServer(files, peer, on: eventLoop)
        connection.sections = Dictionary(
            uniqueKeysWithValues: configuration.sections.map { ($0.kind, $0.mid) })
        return try peer.createOffer().text
    }

    // MARK: Requests of the control channel

    func perform(
        _ method: ControlMethod, _ params: JSONValue, _ respond: @escaping ControlServer.Respond
    ) throws(IoTError) {
        let now = Self.microseconds(eventLoop.now)
        switch method {
        case .playbackList:
            let query = try PlaybackMessages.listQuery(params)
            let skip = try PlaybackMessages.number(params, "skip") ?? 0
            return answer(respond) { source throws(IoTError) in
                PlaybackMessages.page(try source.list(query), skip: skip)
            }
        case .playbackDays:
            let times = try PlaybackMessages.times(params)
            let division = try PlaybackMessages.division(params)
            return answer(respond) { source throws(IoTError) in
                PlaybackMessages.days(try source.days(in: times, by: division))
            }
        case .playbackSeek: try seek(params, at: now)
        case .playbackPause: session.pause(at: now)
        case .playbackResume: session.resume(at: now)
        case .playbackStep: session.step(at: now)
        case .playbackSpeed:
            guard let speed = try PlaybackMessages.speed(params) else {
                throw IoTError(.invalidParameter, "'speed' is missing")
            }
            session.setSpeed(speed, at: now)
        case .playbackStop:
            epoch += 1
            wanted = nil
            session = PlaybackSession(now: now)
            replay.stop()
        default: throw IoTError(.operationNotAllowed, "a playback channel does not offer '\(method.rawValue)'")
        }
        drain()
        respond(.success(state))
    }

    private var state: JSONValue {
        var state: JSONValue = ["speed": .number(session.rate), "paused": .bool(session.isPaused)]
        if let position = wanted?.time ?? session.position { state["time"] = .integer(position / 1_000) }
        return state
    }

    private func seek(_ params: JSONValue, at now: Int64) throws(IoTError) {
        guard let time = try PlaybackMessages.time(params, "time") else {
            throw IoTError(.invalidParameter, "'time' is missing")
        }
        let end = try PlaybackMessages.time(params, "end")
        let strategy = try PlaybackMessages.strategy(params)
        let speed = try PlaybackMessages.speed(params)
        if let strategy { session.setStrategy(strategy) }
        if let speed { session.setSpeed(speed, at: now) }
        guard hasStarted else {
            wanted = (time, end)
            return
        }
        play(from: time, until: end, at: now)
    }

    private func play(from time: Int64, until end: Int64?, at now: Int64) {
        replay.seek(to: time)
        session.seek(to: time, until: end, at: now)
    }

    private func answer(
        _ respond: @escaping ControlServer.Respond,
        _ job: @escaping @Sendable (any RecordedSource) throws(IoTError) -> JSONValue
    ) {
        recordings.perform(on: eventLoop, job).assumeIsolated().whenComplete { result in
            respond(result.mapError { $0 as? IoTError ?? IoTError(.internalFailure, underlying: $0) })
        }
    }

    // MARK: Playing

    /// The connection is established, or the caller wants media.
    func restart(at now: NIODeadline) {
        guard connection.isConnected, connection.wantsMedia else { return }
        if isHeld {
            isHeld = false
            session.resume(at: Self.microseconds(now))
            return drain()
        }
        guard !hasStarted else { return }
        hasStarted = true
        connection.start(video: video, audio: audio, soundIsLive: false, at: now)
        // The session's clock is this machine's monotonic clock.
        connection.peer?.mediaClockAnchor = MediaClockAnchor(
            pts: Self.microseconds(now), wallClock: WallClock.microseconds())
        if let wanted { play(from: wanted.time, until: wanted.end, at: Self.microseconds(now)) }
        wanted = nil
        drain()
    }

    /// The caller wants no media for now.
    func pause() {
        guard hasStarted, !session.isPaused else { return }
        isHeld = true
        session.pause(at: Self.microseconds(eventLoop.now))
        drain()
    }

    func pump(at now: NIODeadline) {
        connection.pump(video: video, audio: audio, at: now) { packet, _ in packet }
    }

    /// Does what the session wants done until its next time-out.
    private func drain() {
        timer?.cancel()
        timer = nil
        while let output = session.poll() {
            switch output {
            case .send(let frame, let time):
                append(frame)
                // Otherwise a caller that reads slowly would lose its control channel.
                if !connection.isControlBehind { perform(replay.played(time, at: Self.microseconds(eventLoop.now))) }
            case .read(let want, let keyFramesOnly, let generation): read(want, keyFramesOnly, generation)
            case .event(let event):
                if case .willBeginFile(let item) = event { connection.ownRotation = item.rotation }
                notify(event)
            case .timeout(let time):
                timer = eventLoop.assumeIsolated().scheduleTask(
                    deadline: .uptimeNanoseconds(UInt64(max(0, time)) * 1_000)
                ) { [weak self] in
                    guard let self else { return }
                    session.handleTimeout(at: Self.microseconds(eventLoop.now))
                    drain()
                }
                return pump(at: eventLoop.now)
            }
        }
        pump(at: eventLoop.now)
    }

    private func notify(_ event: PlaybackEvent) {
        for message in PlaybackMessages.messages(event) { connection.notify(.playbackEvent, message) }
    }

    private func perform(_ outputs: [PlaybackReplay.Output]) {
        for output in outputs {
            switch output {
            case .tell(let mode, let items): notify(.replay(mode, items))
            case .read(let want, let generation): read(want, generation)
            }
        }
    }

    private func read(_ want: ReplayWant, _ generation: Int) {
        recordings.perform(on: eventLoop) { source throws(IoTError) in
            try source.replay(want)
        }.assumeIsolated().whenComplete { [weak self, epoch] result in
            guard let self, epoch == self.epoch else { return }
            let now = Self.microseconds(eventLoop.now)
            switch result {
            case .success(let page): perform(replay.receive(page, generation: generation, at: now))
            case .failure: replay.readFailed(generation: generation, at: now)
            }
        }
    }

    private func append(_ frame: MediaFrame) {
        do throws(IoTError) {
            switch frame.kind {
            case .video: try video?.append(frame, at: eventLoop.now)
            case .audio: try audio?.append(frame, at: eventLoop.now)
            }
        } catch {
            connection.stream.logger.debug(
                "a recorded frame was not sent", metadata: ["error.message": "\(error.message)"])
        }
    }

    private func read(_ want: RecordedWant, _ keyFramesOnly: Bool, _ generation: Int) {
        recordings.perform(on: eventLoop) { source throws(IoTError) in
            try source.read(want, keyFramesOnly: keyFramesOnly)
        }.assumeIsolated().whenComplete { [weak self, epoch] result in
            guard let self, epoch == self.epoch else { return }
            let now = Self.microseconds(eventLoop.now)
            switch result {
            case .success(let part): session.receive(part, generation: generation, at: now)
            case .failure(let error):
                let error = error as? IoTError ?? IoTError(.internalFailure, underlying: error)
                session.readFailed(error, generation: generation, at: now)
            }
            drain()
        }
    }

    func retransmissionRequested(mid: String, _ sequences: [Int64]) {
        let track = mid == connection.sections[.video] ? video : audio
        for packet in sequences.compactMap({ track?.ring.packet(sequence: $0) }) {
            connection.peer?.resend(packet, mid: mid)
        }
    }

    func found(candidate: String) { candidates?.tell(candidate) }

    func ended() {
        candidates = nil
        timer?.cancel()
        timer = nil
        epoch += 1
        recordings.close()
        files.close()
    }

    // The camera's source does not concern it.

    func uses(_ rendition: Rendition) -> Bool { false }
    func keyFrameCame(in rendition: Rendition, at now: NIODeadline) {}
    func clockChanged() {}
    func clockJumped(to pts: Int64, expected: Int64) {}
    func picturesReordered() {}
    func keyFrameRequested(mid: String, at now: NIODeadline) {}
    func canHear(_ rendition: Rendition) -> Bool { false }
    func changed(from last: Rendition) -> Bool { false }
    func restarted(at now: NIODeadline) {}
}
