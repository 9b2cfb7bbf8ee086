public import IoTCore
public import IoTLink
import Logging
package import MediaCodec
public import MediaPlayer
import NIOCore
import PeerTransport
import RTP

/// A channel with the live picture of a device's camera.
///
/// `prepare` connects and gets the tracks; `play` starts the media. Sinks get media from the moment they are added. A
/// sink that is added before `play` gets the first frame too.
public final class MonitorChannel: Sendable {
    public let device: DeviceID
    /// The number of the channel in the log: 1 for the first that this program opened.
    public let number: Int
    public let kind: ChannelKind
    public let source: ChannelSource
    /// The definitions that were wanted when it was opened, as in `WantedDefinition.list`.
    public let definition: String?
    /// The account that an administrator's session calls for; `nil` for its own.
    public let account: Principal?

    private let actions: [CallAction]
    private let session = Hex.random(byteCount: 16)
    let core: NIOLoopBoundBox<MonitorCore>
    private let calls: CallClient
    private let socket: ChannelSocket
    private let certificates: PeerCertificatePool
    private let iceServers: ICEServers
    private let usesServersOfDevices: Bool
    /// Our candidates that follow the answer; an agent has few.
    private let candidates: AsyncStream<String>

    /// The maximum time from the call to the first encrypted packet.
    static let handshakeTimeout: TimeAmount = .seconds(15)

    init(
        number: Int, device: DeviceID, kind: ChannelKind, source: ChannelSource, definition: String? = nil,
        actions: [CallAction] = [.view], as account: Principal? = nil, calls: CallClient,
        socket: ChannelSocket,
        certificates: PeerCertificatePool, iceServers: ICEServers, usesServersOfDevices: Bool,
        parts: PlayerParts, logger: Logger
    ) {
        self.number = number
        self.device = device
        self.kind = kind
        self.source = source
        self.definition = definition
        self.actions = actions
        self.account = account
        self.calls = calls
        self.socket = socket
        self.certificates = certificates
        self.iceServers = iceServers
        self.usesServersOfDevices = usesServersOfDevices
        var logger = logger
        logger[metadataKey: "channel.number"] = "\(number)"
        // As in the guide's log: the device, its source, and the kind.
        logger[metadataKey: "channel.source"] = "\(device)_\(source):\(kind.rawValue)"
        let (candidates, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(64))
        self.candidates = candidates
        core = NIOLoopBoundBox.makeBoxSendingValue(
            MonitorCore(kind: kind, eventLoop: socket.eventLoop, logger: logger, parts: parts) {
                continuation.yield($0)
            },
            eventLoop: socket.eventLoop)
    }

    /// Connects and gets the tracks, without media.
    ///
    /// - Parameter own: What a live channel shows from the beginning.
    /// - Throws: 8000 if the device is offline, 8003 if the account is not bound to it, 20005 if the connection was not
    ///   established in time, and errors that the device returns.
    package func prepare(showing own: OwnCamera? = nil) async throws(IoTError) {
        let outcome = await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.trickle() }
            defer { group.cancelAll() }
            do throws(IoTError) {
                try await self.connect(own)
                return Result<Void, IoTError>.success(())
            } catch {
                await self.socket.close()
                return .failure(error)
            }
        }
        try outcome.get()
    }

    /// Sends our candidates to the device while the connection is made.
    private func trickle() async {
        for await candidate in candidates {
            try? await calls.trickle(session: session, device: device, as: account, candidate: candidate)
        }
    }

    private func connect(_ own: OwnCamera?) async throws(IoTError) {
        let ownPicture = try await ownPictureCodec(own)
        let connected = try await onCore { core throws(IoTError) in
            let connected = try core.beginPreparing()
            let eventLoop = core.eventLoop
            let timeout = eventLoop.scheduleTask(in: Self.handshakeTimeout) {
                [core = NIOLoopBound(core, eventLoop: eventLoop)] in
                core.value.fail(IoTError(.handshakeTimeout))
            }
            connected.whenComplete { _ in timeout.cancel() }
            return connected
        }
        do throws(IoTError) {
            let taken = try await calls.connect(
                session: session, device: device, kind: kind, source: source, actions: actions,
                definition: definition, as: account,
                receiver: Listener(channel: self, ownPicture: ownPicture))
            try await onCore { core throws(IoTError) in
                core.keySource = taken.keySource
                core.rings = taken.acceptance.rings ?? false
                core.definitions = MonitorDefinitions(taken.acceptance.definition, taken.acceptance.definitions)
            }
        } catch {
            try? await onCore { core throws(IoTError) in core.fail(error) }
            try? await connected.get()
            throw error
        }
        do {
            try await connected.get()
        } catch {
            // The device took the call, so it must be notified that the caller left.
            await calls.end(session: session, device: device, as: account)
            throw error as? IoTError ?? IoTError(.connectFailed, underlying: error)
        }
        guard let own else { return }
        do throws(IoTError) {
            try await show(own)
        } catch {
            try? await onCore { core throws(IoTError) in core.fail(error) }
            await calls.end(session: session, device: device, as: account)
            throw error
        }
    }

    /// Adds a use.
    func join(_ use: String) async {
        try? await onCore { core throws(IoTError) in core.join(use) }
    }

    /// Ends the use's events; the channel continues for the others.
    func leave(_ use: String) async {
        try? await onCore { core throws(IoTError) in core.leave(use) }
    }

    /// Starts the media, if no other use has, and this use's statistics; a second call has no effect.
    func play(_ use: String) async throws(IoTError) {
        guard try await onCore({ core throws(IoTError) in try core.beginPlaying(use) }) else { return }
        try await calls.control(session: session, device: device, as: account, .play)
    }

    /// Ends the channel: sinks deliver what is complete and end.
    public func stop() async {
        try? await onCore { core throws(IoTError) in core.stop() }
        await socket.close()
        await calls.end(session: session, device: device, as: account)
    }

    /// The channel with the statistics of all its users together.
    public func describe() async -> MonitorDescription {
        await describe(use: nil)
    }

    func describe(use: String?) async -> MonitorDescription {
        let description = try? await onCore { core throws(IoTError) in core.describe(use) }
        return description ?? MonitorDescription(state: MonitorState())
    }

    func events(of use: String) async -> AsyncStream<MonitorEvent> {
        let events = try? await onCore { core throws(IoTError) in core.subscribe(use) }
        return events ?? AsyncStream { $0.finish() }
    }

    func isWatched(by use: String) async -> Bool {
        (try? await onCore { core throws(IoTError) in core.isWatched(by: use) }) ?? false
    }

    /// Changes the channel's definition, for all its uses. Returns when the device has done so.
    ///
    /// - Parameter wanted: as in `WantedDefinition.list`.
    /// - Throws: 25133 if the device has none of them; 21040 if channels of this kind have no definitions, or the new one
    ///   has another picture format; 21002 if no picture of it came in time.
    package func change(definition wanted: String) async throws(IoTError) {
        do {
            try await onCore { core throws(IoTError) in try core.change(definition: wanted) }.get()
        } catch {
            throw error as? IoTError ?? IoTError(.internalFailure, underlying: error)
        }
    }

    // MARK: Talk

    /// Talks to the device until the source's end, and closes it. Cancelling ends the talk.
    ///
    /// - Parameter presentation: what the use hears is quiet while it talks.
    /// - Throws: 25047 while somebody else talks; 21040 if the device plays nothing, or the account may not talk; the
    ///   device's reason if it ends the talk.
    package func talk(
        _ use: String, _ source: any SpeechSource, presentation: Presentation? = nil
    ) async throws(IoTError) -> TalkSummary {
        let core = core
        do {
            let future = try await onCore { core throws(IoTError) in try core.talk.start(use, source, presentation) }
            return try await withTaskCancellationHandler {
                try await future.get()
            } onCancel: {
                core.eventLoop.execute { core.value.talk.stop(use) }
            }
        } catch {
            throw error as? IoTError ?? IoTError(.internalFailure, underlying: error)
        }
    }

    /// Ends the use's talk.
    func stopTalk(_ use: String) async {
        try? await onCore { core throws(IoTError) in core.talk.stop(use) }
    }

    // MARK: Sinks

    /// The newest picture, or the next one if there is none yet.
    ///
    /// - Parameter bounds: the bounds of a JPEG.
    /// - Throws: `.messageTimeout` if the task is cancelled meanwhile.
    public func snapshot(
        _ format: PictureFormat, _ bounds: PictureBounds? = nil
    ) async throws(IoTError) -> Snapshot {
        try await snapshot(format, bounds, view: PictureView())
    }

    func snapshot(
        _ format: PictureFormat, _ bounds: PictureBounds? = nil, view: PictureView
    ) async throws(IoTError) -> Snapshot {
        let wish = SnapshotWish(format, bounds, view: view, on: core.eventLoop)
        do throws(IoTError) {
            try await onCore { core throws(IoTError) in
                try core.player.run { core, _ throws(IoTError) in try core.addSnapshot(wish) }
            }
        } catch {
            wish.end(.failure(error))
        }
        return try await wish.picture
    }

    // Each of the following sinks belongs to a use, which gets a warning when its reader loses frames.

    func record(frames: Int?, of use: String) async throws(IoTError) -> MediaSink {
        try await onCore { core throws(IoTError) in
            try core.player.run { core, now throws(IoTError) in
                try core.addRecording(frames: frames, of: use, at: now)
            }
        }
    }

    func rawVideo(frames: Int?, of use: String, view: PictureView) async throws(IoTError) -> MediaSink {
        try await onCore { core throws(IoTError) in
            try core.player.run { core, _ throws(IoTError) in
                try core.addRawVideo(frames: frames, of: use, view: view)
            }
        }
    }

    func rawAudio(
        frames: Int?, of use: String, presentation: Presentation
    ) async throws(IoTError) -> MediaSink {
        try await onCore { core throws(IoTError) in
            try core.player.run { core, _ throws(IoTError) in
                try core.addRawAudio(frames: frames, of: use, presentation: presentation)
            }
        }
    }

    /// - Returns: the sink, and its content type.
    func dump(
        _ point: FrameDump.Point, _ kind: MediaKind, of use: String
    ) async throws(IoTError) -> (MediaSink, contentType: String) {
        try await onCore { core throws(IoTError) in
            try core.player.run { core, _ throws(IoTError) in try core.addDump(point, kind, of: use) }
        }
    }

    func addPictures(
        of use: String, view: PictureView, _ make: @escaping @Sendable () -> any PictureSink
    ) async throws(IoTError) {
        try await onCore { core throws(IoTError) in
            try core.player.run { core, _ throws(IoTError) in try core.addPictures(of: use, view: view, make) }
        }
    }

    func addSound(
        of use: String, presentation: Presentation, _ make: @escaping @Sendable () -> any SoundSink
    ) async throws(IoTError) {
        try await onCore { core throws(IoTError) in
            try core.player.run { core, _ throws(IoTError) in
                try core.addSound(of: use, presentation: presentation, make)
            }
        }
    }

    /// The recorder gets the coded frames, from the newest key frame on. It is made on the channel's event loop, with
    /// the tracks' parameters.
    public func addRecorder(
        _ make: @escaping @Sendable (VideoParameters?, AudioParameters?) throws(IoTError) -> any Recorder
    ) async throws(IoTError) {
        try await onCore { core throws(IoTError) in
            try core.player.run { core, now throws(IoTError) in try core.addRecorder(at: now, make) }
        }
    }

    // MARK: Private

    func onCore<Value: Sendable>(
        _ body: @escaping @Sendable (MonitorCore) throws(IoTError) -> Value
    ) async throws(IoTError) -> Value {
        let core = core
        return try await core.eventLoop.perform { () throws(IoTError) in try body(core.value) }
    }

    /// Handles the device's messages for this call.
    private final class Listener: CallClient.Receiver {
        private let channel: MonitorChannel
        private let ownPicture: RTPCodec?

        init(channel: MonitorChannel, ownPicture: RTPCodec?) {
            self.channel = channel
            self.ownPicture = ownPicture
        }

        func invited(
            offer: SessionDescription, iceServers: [ICEServer]
        ) async throws(IoTError) -> SessionDescription {
            let socket = try await channel.socket.open()
            let certificate = channel.certificates.current
            let own = channel.iceServers.servers(for: channel.session, at: WallClock.milliseconds() / 1000)
            let asksDevice = own.isEmpty && channel.usesServersOfDevices
            return try await channel.onCore { [ownPicture] core throws(IoTError) in
                try core.feed.answer(
                    offer, iceServers: asksDevice ? iceServers : own, areNamedByDevice: asksDevice,
                    ownPicture: ownPicture, socket: socket, certificate: certificate)
            }
        }

        func trickled(candidate: String) {
            let core = channel.core
            core.eventLoop.execute { core.value.feed.addRemoteCandidate(candidate) }
        }

        func ended(_ reason: IoTError) {
            let core = channel.core
            core.eventLoop.execute { core.value.fail(reason) }
        }
    }
}
