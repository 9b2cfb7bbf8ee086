import IoTCore
import Logging
import MediaPlayer
import NIOCore
import PeerTransport
import RTP

/// A monitor channel: its call's feed, the player of the feed, and the reports to its users. Confined to one event
/// loop.
final class MonitorCore {
    let eventLoop: any EventLoop
    let feed: CallFeed
    let player: Player
    let talk: ChannelTalk
    let picture: OwnPicture
    private let telling: MonitorTelling
    private var ticker: RepeatedTask?
    private let capabilities: PlayerCapabilities
    private var playback = PlaybackFollower()
    var keySource: KeySource?
    /// Whether somebody at the device must accept the live call.
    var rings = false
    var definitions = MonitorDefinitions(nil, []) {
        didSet {
            let hasPictures = definitions.current != Definition.audio.rawValue
            player.run { core, now in core.expectPictures(hasPictures, at: now) }
        }
    }

    /// How early a frame may go to the decoder to save a wake-up: a little more than the interval of audio frames (20
    /// to 23 ms), so that each wake-up handles at least two.
    private static let coalescing = TimeAmount.milliseconds(25)

    /// `onCandidate` receives our candidates that follow the answer; empty text marks the end of the candidates.
    init(
        kind: ChannelKind = .monitor, eventLoop: any EventLoop, logger: Logger, parts: PlayerParts = PlayerParts(),
        onCandidate: @escaping (String) -> Void
    ) {
        self.eventLoop = eventLoop
        let telling = MonitorTelling(eventLoop: eventLoop)
        self.telling = telling
        let notifications = ControlNotifications()
        feed = CallFeed(
            eventLoop: eventLoop, onCandidate: onCandidate,
            onNotification: { notifications.receive($0, $1) }
        ) { telling.connectionChanged($0, $1) }
        let capabilities = PlayerCapabilities(of: kind)
        self.capabilities = capabilities
        talk = ChannelTalk(feed: feed, capabilities: capabilities, parts: parts, eventLoop: eventLoop)
        notifications.talk = talk
        picture = OwnPicture(feed: feed, capabilities: capabilities, parts: parts) { telling.publish(.warning($0)) }
        feed.control.onLost = { [weak talk] in talk?.end($0) }
        player = Player(
            source: feed, capabilities: capabilities,
            options: JitterBufferOptions(coalescing: Self.coalescing), parts: parts, eventLoop: eventLoop,
            logger: logger
        ) { [talk, picture] event in
            // The link may not report the end: the connection can be lost.
            if case .ended(let reason) = event {
                let reason = reason ?? IoTError(.hungUp, "the channel was closed")
                talk.close(reason)
                picture.close(reason)
            }
            telling.take(event)
        }
        notifications.onPlayback = { [weak self] event in
            if let event = PlaybackMessages.event(event) { self?.played(event) }
        }
    }

    private func played(_ event: PlaybackEvent) {
        player.run { core, now in playback.take(event, core, at: now) }
        telling.publish(.playback(event))
    }

    // MARK: Connecting

    /// Starts to connect; completes when the connection is established and the tracks are known.
    func beginPreparing() throws(IoTError) -> EventLoopFuture<Void> {
        try player.run { core, now throws(IoTError) in try core.prepare(at: now) }
        return feed.connection ?? eventLoop.makeSucceededVoidFuture()
    }

    /// The call was not established, or the other end ended it.
    func fail(_ error: IoTError) {
        talk.close(error)
        picture.close(error)
        player.run { core, now in
            core.fail(error, at: now)
            // An error that would not stop a player ends a call, too.
            core.end(error, at: now)
        }
    }

    // MARK: Playing

    /// Returns true if the device must be asked to send: only the first time.
    func beginPlaying(_ id: String) throws(IoTError) -> Bool {
        let starts = try player.run { core, now throws(IoTError) in
            let starts = try core.play(id, at: now)
            if starts { playback.began(core, at: now) }
            return starts
        }
        guard starts else { return false }
        let core = NIOLoopBound(self, eventLoop: eventLoop)
        ticker = eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { task in
            guard !core.value.telling.hasEnded else { return task.cancel() }
            core.value.publishStatistics()
        }
        return true
    }

    /// Ends the channel: received frames are released, and every sink ends.
    func stop() {
        let reason = IoTError(.hungUp, "the channel was closed")
        talk.close(reason)
        picture.close(reason)
        player.run { core, now in core.stop(at: now) }
        ticker?.cancel()
        ticker = nil
    }

    private func publishStatistics() {
        let playing = player.run { core, _ in core.playingUses }
        for id in playing where telling.isWatched(by: id) { telling.publish(.statistics(describe(id)), to: id) }
    }

    /// Completes when the device has changed the definition. Without a device it fails at once.
    func change(definition wanted: String) throws(IoTError) -> EventLoopFuture<Void> {
        try capabilities.require(.definition)
        guard telling.state.connection != .disconnected else {
            throw telling.state.reason ?? IoTError(.channelDisconnected)
        }
        guard !definitions.all.isEmpty else {
            throw IoTError(.actionNotSupported, "the device has only one definition")
        }
        let core = NIOLoopBound(self, eventLoop: eventLoop)
        return feed.control.request(.definitionSet, ["definition": .string(wanted)]).map { report in
            let all = report["definitions"]?.arrayValue?.compactMap(\.stringValue)
            core.value.definitions = MonitorDefinitions(report["definition"]?.stringValue, all ?? [])
        }
    }

    /// A request about recordings; fails at once in a channel of another kind.
    func askRecordings(_ method: ControlMethod, _ params: JSONValue) throws(IoTError) -> EventLoopFuture<JSONValue> {
        try capabilities.require(.seek)
        let core = NIOLoopBound(self, eventLoop: eventLoop)
        return feed.control.request(method, params).map { response in
            core.value.player.run { player, now in core.value.playback.take(response, to: method, player, at: now) }
            return response
        }
    }

    /// Asks for a part of a recording's file; fails at once in a channel of another kind.
    func askFile(_ request: ByteBuffer, timeout: TimeAmount) throws(IoTError) -> DataQueue<ByteBuffer> {
        try capabilities.require(.seek)
        return try feed.files.ask(request, .many, timeout: timeout)
    }

    // MARK: Users

    func join(_ id: String) {
        telling.join(id)
        player.run { core, _ in core.join(id) }
    }

    /// Ends the use's events; the channel continues for others.
    func leave(_ id: String) {
        talk.stop(id)
        player.run { core, _ in core.leave(id) }
        telling.leave(id)
    }

    func subscribe(_ id: String) -> AsyncStream<MonitorEvent> { telling.subscribe(id) }

    func isWatched(by id: String) -> Bool { telling.isWatched(by: id) }

    /// - Parameter id: a use with its own statistics; `nil` for the whole channel. A use that has left is reported as
    ///   stopped.
    func describe(_ id: String? = nil) -> MonitorDescription {
        player.run { core, now in
            let statistics = core.statistics(of: id, at: now)
            let hasLeft = id.map { !telling.has($0) } ?? false
            return MonitorDescription(
                state: hasLeft ? MonitorState() : telling.state, video: core.video, audio: core.audio,
                statistics: statistics, roundTripTime: feed.roundTripTime.map { Double($0.nanoseconds) / 1e9 },
                firstPicturePts: id.flatMap { core.firstPicturePts(of: $0) }, stages: core.stageEntries,
                talk: MonitorTalk(
                    isOffered: talk.isOffered, isTalking: talk.talker != nil && (id == nil || talk.talker == id)),
                definitions: definitions, keySource: keySource, ownCamera: picture.camera,
                playback: playback.progress, rings: rings)
        }
    }
}
