public import IoTCore
public import IoTLink
import Logging
public import MediaPlayer
import NIOCore
import PeerTransport

/// A channel that shows what a device's camera sees now.
///
/// `prepare` connects and learns the tracks, `play` starts the media. Sinks take part from the moment they are
/// added, also before `play`, so that the first frame is in them.
public final class MonitorChannel: Sendable {
    public let device: DeviceID
    public let kind: ChannelKind
    public let source: Int
    /// In whose name an administrator's session calls; `nil` for its own.
    public let account: Principal?

    private let session = Hex.random(byteCount: 16)
    private let core: NIOLoopBoundBox<MonitorCore>
    private let calls: CallClient
    private let socket: ChannelSocket
    private let certificates: PeerCertificatePool
    private let iceServers: ICEServers
    private let usesServersOfDevices: Bool
    /// Ours that came after the answer: an agent has few.
    private let candidates: AsyncStream<String>

    /// How long the device may take from the call to the first encrypted packet.
    static let handshakeTimeout: TimeAmount = .seconds(15)

    init(
        device: DeviceID, kind: ChannelKind, source: Int, as account: Principal? = nil, calls: CallClient,
        socket: ChannelSocket,
        certificates: PeerCertificatePool, iceServers: ICEServers, usesServersOfDevices: Bool,
        parts: PlayerParts, logger: Logger
    ) {
        self.device = device
        self.kind = kind
        self.source = source
        self.account = account
        self.calls = calls
        self.socket = socket
        self.certificates = certificates
        self.iceServers = iceServers
        self.usesServersOfDevices = usesServersOfDevices
        let (candidates, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(64))
        self.candidates = candidates
        core = NIOLoopBoundBox.makeBoxSendingValue(
            MonitorCore(kind: kind, eventLoop: socket.eventLoop, logger: logger, parts: parts) {
                continuation.yield($0)
            },
            eventLoop: socket.eventLoop)
    }

    /// Connects and learns the tracks; no media flows.
    ///
    /// - Throws: 8000 when the device is offline, 8003 when the account is not bound to it, 20005 when the
    ///   connection was not made in time, and what else the device answers.
    public func prepare() async throws(IoTError) {
        let outcome = await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.trickle() }
            defer { group.cancelAll() }
            do throws(IoTError) {
                try await self.connect()
                return Result<Void, IoTError>.success(())
            } catch {
                await self.socket.close()
                return .failure(error)
            }
        }
        try outcome.get()
    }

    /// Tells the device our candidates while the connection is made.
    private func trickle() async {
        for await candidate in candidates {
            try? await calls.trickle(session: session, device: device, as: account, candidate: candidate)
        }
    }

    private func connect() async throws(IoTError) {
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
            try await calls.connect(
                session: session, device: device, kind: kind, source: source, as: account,
                receiver: Listener(channel: self))
        } catch {
            try? await onCore { core throws(IoTError) in core.fail(error) }
            try? await connected.get()
            throw error
        }
        do {
            try await connected.get()
        } catch {
            // The device took the call, and is to know that nobody comes.
            await calls.end(session: session, device: device, as: account)
            throw error as? IoTError ?? IoTError(.connectFailed, underlying: error)
        }
    }

    /// A user takes part from now on.
    func join(_ use: String) async {
        try? await onCore { core throws(IoTError) in core.join(use) }
    }

    /// The user's events end; the channel goes on for the others.
    func leave(_ use: String) async {
        try? await onCore { core throws(IoTError) in core.leave(use) }
    }

    /// Starts the media, where another use has not, and the statistics of this one; a second call does nothing.
    func play(_ use: String) async throws(IoTError) {
        guard try await onCore({ core throws(IoTError) in try core.beginPlaying(use) }) else { return }
        try await calls.control(session: session, device: device, as: account, .play)
    }

    /// Ends the channel in order: sinks deliver what is complete and end.
    public func stop() async {
        try? await onCore { core throws(IoTError) in core.stop() }
        await socket.close()
        await calls.end(session: session, device: device, as: account)
    }

    /// The channel with what all its users saw together.
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

    // MARK: Sinks

    /// The newest picture, or the next one where there is none yet.
    ///
    /// - Parameter bounds: of a JPEG.
    /// - Throws: `.messageTimeout` when the task is cancelled meanwhile.
    public func snapshot(
        _ format: PictureFormat, _ bounds: PictureBounds? = nil
    ) async throws(IoTError) -> Snapshot {
        let wish = SnapshotWish(format, bounds, on: core.eventLoop)
        do throws(IoTError) {
            try await onCore { core throws(IoTError) in
                try core.player.run { core, _ throws(IoTError) in try core.addSnapshot(wish) }
            }
        } catch {
            wish.end(.failure(error))
        }
        return try await wish.picture
    }

    // Each of the following belongs to a use, which is told what its reader loses.

    func record(frames: Int?, of use: String) async throws(IoTError) -> MediaSink {
        try await onCore { core throws(IoTError) in
            try core.player.run { core, now throws(IoTError) in
                try core.addRecording(frames: frames, of: use, at: now)
            }
        }
    }

    func rawVideo(frames: Int?, of use: String) async throws(IoTError) -> MediaSink {
        try await onCore { core throws(IoTError) in
            try core.player.run { core, _ throws(IoTError) in try core.addRawVideo(frames: frames, of: use) }
        }
    }

    func rawAudio(frames: Int?, of use: String) async throws(IoTError) -> MediaSink {
        try await onCore { core throws(IoTError) in
            try core.player.run { core, _ throws(IoTError) in try core.addRawAudio(frames: frames, of: use) }
        }
    }

    func addPictures(of use: String, _ make: @escaping @Sendable () -> any PictureSink) async throws(IoTError) {
        try await onCore { core throws(IoTError) in
            try core.player.run { core, _ throws(IoTError) in try core.addPictures(of: use, make) }
        }
    }

    func addSound(of use: String, _ make: @escaping @Sendable () -> any SoundSink) async throws(IoTError) {
        try await onCore { core throws(IoTError) in
            try core.player.run { core, _ throws(IoTError) in try core.addSound(of: use, make) }
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

    // MARK: Inside

    private func onCore<Value: Sendable>(
        _ body: @escaping @Sendable (MonitorCore) throws(IoTError) -> Value
    ) async throws(IoTError) -> Value {
        let core = core
        return try await core.eventLoop.perform { () throws(IoTError) in try body(core.value) }
    }

    /// What the device sends to this call.
    private final class Listener: CallClient.Receiver {
        private let channel: MonitorChannel

        init(channel: MonitorChannel) {
            self.channel = channel
        }

        func invited(
            offer: SessionDescription, iceServers: [ICEServer]
        ) async throws(IoTError) -> SessionDescription {
            let socket = try await channel.socket.open()
            let certificate = channel.certificates.current
            let own = channel.iceServers.servers(for: channel.session, at: WallClock.milliseconds() / 1000)
            let asksDevice = own.isEmpty && channel.usesServersOfDevices
            return try await channel.onCore { core throws(IoTError) in
                try core.feed.answer(
                    offer, iceServers: asksDevice ? iceServers : own, areNamedByDevice: asksDevice, socket: socket,
                    certificate: certificate)
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
