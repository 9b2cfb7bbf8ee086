package import IoTCore
package import Logging
package import NIOCore

/// One player: its source's frames go through the playout to the decoder and the recordings, and are counted.
///
/// It owns no clock and no timer: each call passes the current time, and afterwards `nextTimeout` says when
/// `handleTimeout(at:)` is due. Confined to one event loop.
package final class PlayerCore {
    let source: any FrameSource
    let capabilities: PlayerCapabilities
    private let options: JitterBufferOptions
    let logger: Logger
    let parts: PlayerParts
    /// Makes the callback that the decoding thread calls when the owner should call `takeDecodeEvents(at:)` soon.
    package var makeWake: () -> @Sendable () -> Void = { {} }
    /// Called in order, during calls of this core.
    package var onEvent: (PlayerEvent) -> Void = { _ in }

    var machine: PlayerStateMachine
    private(set) var tracks = FrameSourceDescription(video: nil, audio: nil)
    /// `nil` before play.
    var playout: Playout?
    /// The number of seeks so far; frames of an earlier generation are not played.
    private(set) var generation = 0
    /// Where play starts, if not at the source's start, µs.
    private var beginning: Int64?
    private var rate = 1.0
    private(set) var expectsPictures = true
    /// How far the source's pictures must be turned.
    private(set) var rotation = PictureRotation.none
    /// The source was asked for more.
    var hasAsked = false
    var stage: DecodeStage?
    let decodeEvents = DecodeEvents()
    let counts = PlayerCounts()
    var stages: StageLog
    var meters = StreamMeters()
    /// The newest frames shown, µs.
    var lastShown: [MediaKind: Int64] = [:]
    var recordings: [RecordingFeed] = []
    var dumps: [FrameDump] = []
    var sinks = PlayerSinks()
    /// May be called on any thread when the owner should call `takeDecodeEvents(at:)` soon.
    private(set) var wake: @Sendable () -> Void = {}
    /// The frames released since the newest key frame, with their presentation times. A recording that starts during
    /// play starts with these.
    var group = GroupOfPictures()
    /// Callbacks that observe each frame that goes to the decoder.
    package var taps = FrameTaps<PlayedFrame>()
    /// Discontinuities that the playout announced, to be reported with the next frame.
    var breaks: [MediaKind: DiscontinuityReason] = [:]
    private(set) var hasEnded = false
    package internal(set) var nextTimeout: NIODeadline?

    /// - Parameter now: the stages of the play are timed from here.
    package init(
        source: any FrameSource, capabilities: PlayerCapabilities, options: JitterBufferOptions = JitterBufferOptions(),
        parts: PlayerParts = PlayerParts(), logger: Logger, at now: NIODeadline
    ) {
        stages = StageLog(begun: now)
        self.source = source
        self.capabilities = capabilities
        machine = PlayerStateMachine(capabilities)
        self.options = options
        self.parts = parts
        self.logger = logger
        note(.created, at: now, ["kind": .string(capabilities.kind.name)])
    }

    deinit {
        // The decoding thread may have ended after the last call of the owner.
        for event in decodeEvents.take(at: parts.clock()) { noteClosed(event, at: parts.clock()) }
        note(.released, at: parts.clock())
    }

    // MARK: Commands

    /// Opens the source; the player is `ready` when the tracks are known.
    package func prepare(at now: NIODeadline) throws(IoTError) {
        // The source cannot be opened again.
        guard !hasEnded else { throw IoTError(.channelDisconnected) }
        perform(try machine.handle(.prepare), at: now)
        pump(at: now)
    }

    /// Returns true if this call starts the media: only the first call on a ready player does.
    package func play(_ use: String, at now: NIODeadline) throws(IoTError) -> Bool {
        try capabilities.require(.video)
        guard counts.has(use), !hasEnded else { throw IoTError(.channelDisconnected) }
        let actions = try machine.handle(.play)
        counts.play(use)
        perform(actions, at: now)
        beginUses(at: now)
        pump(at: now)
        return actions.contains { if case .startMedia = $0 { true } else { false } }
    }

    /// Ends the player: frames that have arrived are released, and every sink ends.
    package func stop(at now: NIODeadline) {
        guard let actions = try? machine.handle(.stop) else { return }
        perform(actions, at: now)
        end(nil, at: now)
    }

    package func pause(at now: NIODeadline) throws(IoTError) {
        let actions = try machine.handle(.pause)
        playout?.pause(at: now)
        perform(actions, at: now)
        pump(at: now)
    }

    package func resume(at now: NIODeadline) throws(IoTError) {
        let actions = try machine.handle(.resume)
        playout?.resume(at: now)
        perform(actions, at: now)
        pump(at: now)
    }

    /// Continues at this pts, µs, or starts there if play has not begun.
    package func seek(to pts: Int64, at now: NIODeadline) throws(IoTError) {
        guard !hasEnded else { throw IoTError(.channelDisconnected) }
        guard pts.magnitude < playoutTimeLimit.magnitude else {
            throw IoTError(.invalidParameter, "the position \(pts) µs is out of range")
        }
        let actions = try machine.handle(.seek)
        if playout == nil { beginning = pts } else { jump(to: pts, at: now) }
        perform(actions, at: now)
        pump(at: now)
    }

    private func jump(to pts: Int64, at now: NIODeadline) {
        let pts = max(pts, tracks.start)
        generation += 1
        stage?.begin(generation: generation)
        group.removeAll()
        breaks.removeAll()
        playout?.seek(to: pts, generation: generation, at: now)
        source.seek(to: pts, generation: generation, at: now)
    }

    /// - Parameter rate: 0.125 to 32; 1 is the source's own rate. Above 2 only key frames are shown, without sound.
    package func setRate(_ rate: Double, at now: NIODeadline) throws(IoTError) {
        let actions = try machine.handle(.setSpeed)
        guard PacedPlayout.rates.contains(rate) else {
            throw IoTError(.invalidParameter, "the rate \(rate) is not in the range 0.125 to 32")
        }
        self.rate = rate
        playout?.setRate(rate, at: now)
        source.setRate(rate, at: now)
        perform(actions, at: now)
        handle(.paceChanged(isFast: rate > PacedPlayout.everyFrameRate), at: now)
        pump(at: now)
    }

    /// Call this when the source begins or stops to send pictures, as with the definition `audio`: meanwhile the sound
    /// shows whether the player plays, and the time until the next picture is not a freeze.
    package func expectPictures(_ isExpected: Bool, at now: NIODeadline) {
        guard isExpected != expectsPictures else { return }
        expectsPictures = isExpected
        if !isExpected { counts.count { $0.presentationPaused() } }
        playout?.expectPictures(isExpected, at: now)
        pump(at: now)
    }

    /// Something other than the source failed; an error that stops the player ends it.
    package func fail(_ error: IoTError, at now: NIODeadline) {
        perform(machine.handle(.failed(error)), at: now)
    }

    /// Takes the source's outputs and releases the frames that are due.
    package func pump(at now: NIODeadline) {
        takeDecodeEvents(at: now)
        guard !hasEnded else { return }
        repeat {
            hasAsked = false
            while let output = source.poll(at: now) { handle(output, at: now) }
            release(at: now)
        } while hasAsked
    }

    package func handleTimeout(at now: NIODeadline) {
        if !hasEnded { playout?.handleTimeout(at: now) }
        pump(at: now)
    }

    // MARK: Uses

    /// Adds a use.
    package func join(_ use: String) {
        counts.join(use)
    }

    package func leave(_ use: String) {
        counts.leave(use)
        sinks.leave(use)
    }

    /// The uses that are playing.
    package var playingUses: [String] { counts.counted }

    /// - Parameter use: a use with its own statistics; `nil` for the whole player.
    package func statistics(of use: String?, at now: NIODeadline) -> ChannelStatistics? {
        takeDecodeEvents(at: now)
        counts.update(report: playout?.report, packets: source.packets)
        sinks.takeLosses { kind, use, frames in
            // Frames that a recording lost were still shown.
            guard let track = kind.track else { return }
            counts.count(for: use) { $0.framesDropped(track, .slowReader, count: frames) }
        }
        var statistics = counts.snapshot(of: use, at: now)
        statistics?.sinks = sinks.statistics(of: use)
        statistics?.processingTime = meters.processing.percentiles
        statistics?.audioVideoDistance = meters.distance.seconds
        statistics?.video?.keyFrameDistance = meters.keyFrames.distance.map { Double($0) / 1_000_000 }
        return statistics
    }

    /// The first picture decoded after the use joined, µs.
    package func firstPicturePts(of use: String) -> Int64? {
        counts.firstPicturePts(of: use)
    }

    /// The current parameters, updated by key frames.
    package var video: VideoParameters? { playout?.video ?? tracks.video }
    package var audio: AudioParameters? { tracks.audio }

    package var status: PlayerStatus { machine.status }

    /// The pts that is presented now, µs; `nil` before play.
    package func position(at now: NIODeadline) throws(IoTError) -> Int64? {
        try capabilities.require(.position)
        return playout?.position(at: now)
    }

    /// The duration, µs; `nil` while it is unknown.
    package var duration: Int64? {
        get throws(IoTError) {
            try capabilities.require(.duration)
            return tracks.duration
        }
    }

    // MARK: Private

    private func handle(_ output: FrameSourceOutput, at now: NIODeadline) {
        switch output {
        case .progress(let substate):
            note(.connecting, detail: substate.name, at: now, ["substate": .string(substate.name)])
        case .opened(let description):
            open(description)
            noteOpened(at: now)
            perform(machine.handle(.headerKnown), at: now)
        case .frame(let received):
            guard playout != nil else { return }
            counts.count {
                $0.frameReceived(
                    received.frame.kind, bytes: received.frame.bytes.readableBytes, at: received.arrival)
            }
            noteReceived(received)
            dump(received.frame, at: .received)
            playout?.receive(received, at: now)
        case .lost(let kind):
            playout?.frameLost(kind, at: now)
        case .clock(let kind, let pts, let offset):
            playout?.clock(kind, pts: pts, offset: offset, at: now)
        case .turned(let rotation): turn(rotation)
        case .complete(let generation):
            playout?.complete(generation: generation, at: now)
        case .failed(let error):
            fail(error, at: now)
        case .closed(let reason):
            end(reason, at: now)
        }
    }

    private func turn(_ rotation: PictureRotation) {
        self.rotation = rotation
        recordings.forEach { $0.recorder.turned(rotation) }
    }

    private func open(_ description: FrameSourceDescription) {
        guard stage == nil, !hasEnded else { return }
        tracks = description
        wake = makeWake()
        stage = DecodeStage(
            video: description.video, audio: description.audio, parts: parts, events: decodeEvents, onEvents: wake)
        // A track without a kind of media has no renderer.
        if description.video != nil, let make = parts.pictureRenderer { try? addPictures(make) }
        if description.audio != nil, let make = parts.soundRenderer { try? addSound(make) }
    }

    private func beginUses(at now: NIODeadline) {
        counts.beginUses(report: playout?.report, packets: source.packets, at: now)
    }

    func perform(_ actions: [PlayerStateMachine.Action], at now: NIODeadline) {
        for action in actions {
            switch action {
            case .connect:
                note(
                    .connecting, at: now,
                    [
                        "type": .integer(Int64(capabilities.kind.rawValue)), "action": 1,
                        "seek": .integer(beginning ?? 0),
                    ])
                source.open(at: now)
            case .startMedia:
                playout = Playout(source.delivery, tracks, options: options, now: now)
                playout?.expectPictures(expectsPictures, at: now)
                counts.begin(at: now)
                beginUses(at: now)
                note(.sinks, at: now, StageFacts.sinks(sinks.openKinds))
                source.start(at: now)
                if rate != 1 { playout?.setRate(rate, at: now) }
                if let beginning { jump(to: beginning, at: now) }
            case .disconnect:
                end(machine.lastError, at: now)
            case .report(.statusChanged(_, let status)):
                onEvent(.statusChanged(status, reason: machine.reason))
            case .report(.error(let error, let isFatal)):
                if !isFatal { onEvent(.warning(error, use: nil)) }
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

    func handle(_ event: PlayerStateMachine.Event, at now: NIODeadline) {
        perform(machine.handle(event), at: now)
    }

    /// The source has ended. Has no effect if the player has.
    package func end(_ reason: IoTError?, at now: NIODeadline) {
        guard !hasEnded else { return }
        hasEnded = true
        note(.disconnecting, at: now, reason.map { ["code": .integer(Int64($0.code.rawValue))] } ?? [:])
        playout?.flush(at: now)
        takeDecodeEvents(at: now)
        release(at: now)
        nextTimeout = nil
        recordings.forEach { $0.recorder.end(nil) }
        recordings = []
        dumps.forEach { $0.sink.end(nil) }
        dumps = []
        stage?.end(nil)
        stage = nil
        source.close(reason, at: now)
        perform(machine.handle(.disconnected(reason)), at: now)
        onEvent(.ended(reason))
    }
}
