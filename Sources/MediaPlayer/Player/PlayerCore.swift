package import IoTCore
package import Logging
package import NIOCore

/// One player: what its source gives goes through the playout to the decoder and the recordings, and is counted.
///
/// Owns no clock and no timer: every call says what time it is, and afterwards `nextTimeout` says when
/// `handleTimeout(at:)` is due. Confined to one event loop.
package final class PlayerCore {
    let source: any FrameSource
    let capabilities: PlayerCapabilities
    private let options: JitterBufferOptions
    private let logger: Logger
    let parts: PlayerParts
    /// Makes what is called on the decoding thread when somebody is to call `takeDecodeEvents(at:)` soon.
    package var makeWake: () -> @Sendable () -> Void = { {} }
    /// Reports, in order, while a call of this core runs.
    package var onEvent: (PlayerEvent) -> Void = { _ in }

    private var machine: PlayerStateMachine
    private(set) var tracks = FrameSourceDescription(video: nil, audio: nil)
    /// `nil` before play.
    var playout: Playout?
    /// Counts the seeks: frames of an earlier one are not played.
    private(set) var generation = 0
    /// Where play begins, if not at the source's start, µs.
    private var beginning: Int64?
    private var rate = 1.0
    /// The source was asked for more.
    var hasAsked = false
    var stage: DecodeStage?
    let decodeEvents = DecodeEvents()
    let counts = PlayerCounts()
    var recordings: [RecordingFeed] = []
    var sinks = PlayerSinks()
    /// Called on any thread when somebody is to call `takeDecodeEvents(at:)` soon.
    private(set) var wake: @Sendable () -> Void = {}
    /// What was released since the newest key frame, with the time at which it is presented: a recording that begins
    /// while the player plays begins here.
    var group = GroupOfPictures()
    /// Those who look at each frame that goes to the decoder.
    package var taps = FrameTaps<PlayedFrame>()
    /// Breaks announced by the playout, to be reported with the frame after them.
    var breaks: [MediaKind: DiscontinuityReason] = [:]
    private(set) var hasEnded = false
    package internal(set) var nextTimeout: NIODeadline?

    package init(
        source: any FrameSource, capabilities: PlayerCapabilities, options: JitterBufferOptions = JitterBufferOptions(),
        parts: PlayerParts = PlayerParts(), logger: Logger
    ) {
        self.source = source
        self.capabilities = capabilities
        machine = PlayerStateMachine(capabilities)
        self.options = options
        self.parts = parts
        self.logger = logger
    }

    // MARK: Commands

    /// Opens the source; it is `ready` when the tracks are known.
    package func prepare(at now: NIODeadline) throws(IoTError) {
        // Its source is closed for good.
        guard !hasEnded else { throw IoTError(.channelDisconnected) }
        perform(try machine.handle(.prepare), at: now)
        pump(at: now)
    }

    /// True when this starts the media at once: the first call of a player that is ready, and none after it.
    package func play(_ use: String, at now: NIODeadline) throws(IoTError) -> Bool {
        guard counts.has(use), !hasEnded else { throw IoTError(.channelDisconnected) }
        let actions = try machine.handle(.play)
        counts.play(use)
        perform(actions, at: now)
        beginUses(at: now)
        pump(at: now)
        return actions.contains { if case .startMedia = $0 { true } else { false } }
    }

    /// Ends the player in order: what was received comes out, and every sink ends.
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

    /// Goes on at this pts, µs, or begins there.
    package func seek(to pts: Int64, at now: NIODeadline) throws(IoTError) {
        guard !hasEnded else { throw IoTError(.channelDisconnected) }
        guard pts.magnitude < playoutTimeLimit.magnitude else {
            throw IoTError(.invalidParameter, "no source has a position of \(pts) µs")
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

    /// - Parameter rate: 0.125 to 32, 1 is the source's own; above 2 key frames alone are shown, without sound.
    package func setRate(_ rate: Double, at now: NIODeadline) throws(IoTError) {
        let actions = try machine.handle(.setSpeed)
        guard PacedPlayout.rates.contains(rate) else {
            throw IoTError(.invalidParameter, "the rate \(rate) is not one from 0.125 to 32")
        }
        self.rate = rate
        playout?.setRate(rate, at: now)
        source.setRate(rate, at: now)
        perform(actions, at: now)
        handle(.paceChanged(isFast: rate > PacedPlayout.everyFrameRate), at: now)
        pump(at: now)
    }

    /// Something failed beside the source; an error that stops the player ends it.
    package func fail(_ error: IoTError, at now: NIODeadline) {
        perform(machine.handle(.failed(error)), at: now)
    }

    /// Takes what the source has, and gives on what is due.
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

    /// A user takes part from now on.
    package func join(_ use: String) {
        counts.join(use)
    }

    package func leave(_ use: String) {
        counts.leave(use)
        sinks.leave(use)
    }

    /// The uses that play.
    package var playingUses: [String] { counts.counted }

    /// - Parameter use: with statistics of its own; `nil` for the whole player.
    package func statistics(of use: String?, at now: NIODeadline) -> ChannelStatistics? {
        takeDecodeEvents(at: now)
        counts.update(report: playout?.report, packets: source.packets)
        sinks.takeLosses { kind, use, frames in
            // What a recording lost was shown.
            guard let track = kind.track else { return }
            counts.count(for: use) { $0.framesDropped(track, .slowReader, count: frames) }
        }
        var statistics = counts.snapshot(of: use, at: now)
        statistics?.sinks = sinks.statistics(of: use)
        return statistics
    }

    /// The first picture that was decoded since the use joined, µs.
    package func firstPicturePts(of use: String) -> Int64? {
        counts.firstPicturePts(of: use)
    }

    /// As now known.
    package var video: VideoParameters? { playout?.video ?? tracks.video }
    package var audio: AudioParameters? { tracks.audio }

    package var status: PlayerStatus { machine.status }

    /// The pts that is presented now, µs; `nil` before play.
    package func position(at now: NIODeadline) throws(IoTError) -> Int64? {
        try capabilities.require(.position)
        return playout?.position(at: now)
    }

    /// µs; `nil` while it is not known.
    package var duration: Int64? {
        get throws(IoTError) {
            try capabilities.require(.duration)
            return tracks.duration
        }
    }

    // MARK: Inside

    private func handle(_ output: FrameSourceOutput, at now: NIODeadline) {
        switch output {
        case .opened(let description):
            open(description)
            perform(machine.handle(.headerKnown), at: now)
        case .frame(let received):
            guard playout != nil else { return }
            counts.count {
                $0.frameReceived(
                    received.frame.kind, bytes: received.frame.bytes.readableBytes, at: received.arrival)
            }
            playout?.receive(received, at: now)
        case .lost(let kind):
            playout?.frameLost(kind, at: now)
        case .clock(let kind, let pts, let offset):
            playout?.clock(kind, pts: pts, offset: offset, at: now)
        case .complete(let generation):
            playout?.complete(generation: generation, at: now)
        case .failed(let error):
            fail(error, at: now)
        case .closed(let reason):
            end(reason, at: now)
        }
    }

    private func open(_ description: FrameSourceDescription) {
        guard stage == nil, !hasEnded else { return }
        tracks = description
        wake = makeWake()
        stage = DecodeStage(
            video: description.video, audio: description.audio, parts: parts, events: decodeEvents, onEvents: wake)
    }

    private func beginUses(at now: NIODeadline) {
        counts.beginUses(report: playout?.report, packets: source.packets, at: now)
    }

    func perform(_ actions: [PlayerStateMachine.Action], at now: NIODeadline) {
        for action in actions {
            switch action {
            case .connect:
                source.open(at: now)
            case .startMedia:
                playout = Playout(source.delivery, tracks, options: options, now: now)
                counts.begin(at: now)
                beginUses(at: now)
                source.start(at: now)
                if rate != 1 { playout?.setRate(rate, at: now) }
                if let beginning { jump(to: beginning, at: now) }
            case .disconnect:
                end(machine.lastError, at: now)
            case .report(.statusChanged(_, let status)):
                onEvent(.statusChanged(status, reason: machine.lastError))
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

    private func end(_ reason: IoTError?, at now: NIODeadline) {
        guard !hasEnded else { return }
        hasEnded = true
        playout?.flush(at: now)
        takeDecodeEvents(at: now)
        release(at: now)
        nextTimeout = nil
        recordings.forEach { $0.recorder.end(nil) }
        recordings = []
        stage?.end(nil)
        stage = nil
        source.close(reason, at: now)
        perform(machine.handle(.disconnected(reason)), at: now)
        onEvent(.ended(reason))
    }
}
