public import IoTCore
public import IoTLink
public import Logging
public import MediaCodec
public import MediaPlayer
import NIOCore
public import PeerTransport

/// A gateway's channels. Users of one account share one channel per camera, kind and wanted
/// definition: one connection, one decoder. Live and playback channels are not shared.
public actor ChannelRegistry {
    /// One user's use of a channel that others may share.
    public struct Use: Sendable {
        public let id: String
        public let deviceName: String
        public let channel: MonitorChannel
        /// What this use's decoded sinks get.
        let presentation = Presentation()

        /// How the user sees and hears the channel. A change has effect from the next picture and sound on.
        public var presentationSettings: PresentationSettings { presentation.settings }
        public func present(_ settings: PresentationSettings) { presentation.settings = settings }

        /// Starts the media and this use's statistics; a second call has no effect.
        public func play() async throws(IoTError) { try await channel.play(id) }

        /// The channel with this use's own statistics, which start when it plays.
        public func describe() async -> MonitorDescription { await channel.describe(use: id) }

        /// The current state, then each change, until `.ended`: of the channel, or of this use.
        public func events() async -> AsyncStream<MonitorEvent> { await channel.events(of: id) }

        /// Talks until the source's end; see `MonitorChannel.talk`.
        public func talk(_ source: any SpeechSource) async throws(IoTError) -> TalkSummary {
            try await channel.talk(id, source, presentation: presentation)
        }

        /// Ends this use's talk.
        public func stopTalk() async { await channel.stopTalk(id) }

        /// Changes the channel's definition, for all its uses; see `MonitorChannel.change(definition:)`.
        package func change(definition: String) async throws(IoTError) {
            try await channel.change(definition: definition)
        }

        /// Shows a camera of this gateway in a live channel; see `MonitorChannel.show`.
        package func show(_ camera: OwnCamera?) async throws(IoTError) { try await channel.show(camera) }

        /// Shows a program's pictures in a live channel; see `MonitorChannel.show`.
        public func show(_ pictures: any PictureSource) async throws(IoTError) { try await channel.show(pictures) }

        /// Whether this use's events have a reader.
        public var isWatched: Bool { get async { await channel.isWatched(by: id) } }
    }

    private struct Key: Hashable {
        let device: DeviceID
        let kind: ChannelKind
        let source: ChannelSource
        let definition: String?
        let account: Principal?
        /// The channel's number, if it is not shared: in a playback channel each user chooses what is played.
        let number: Int?
    }

    private struct Shared {
        let channel: MonitorChannel
        let hasOwnSocket: Bool
        /// The result of `take`, kept while the connection exists.
        let part: any Sendable
        /// Completes when the channel is prepared, for uses that join meanwhile.
        let prepared: EventLoopFuture<Void>
        var uses = 0
    }

    private let calls: CallClient
    private let socket: PeerSocket
    private let certificates: PeerCertificatePool
    private let iceServers: ICEServers
    private let usesServersOfDevices: Bool
    private let parts: PlayerParts
    private let logger: Logger
    private var shared: [Key: Shared] = [:]
    private var uses: [String: Use] = [:]
    /// The devices that are called from `socket`; a second call to one of them needs its own socket.
    private var calledFromSocket: Set<DeviceID> = []
    /// The number of channels opened so far.
    private var opened = 0

    /// - Parameters:
    ///   - calls: the client of the link over which devices are called.
    ///   - usesServersOfDevices: if `iceServers` is empty, use the servers that the called device names.
    ///   - parts: the parts of every channel's player.
    public init(
        calls: CallClient, socket: PeerSocket, certificates: PeerCertificatePool, iceServers: ICEServers,
        usesServersOfDevices: Bool, parts: PlayerParts = PlayerParts(), logger: Logger
    ) {
        self.calls = calls
        self.socket = socket
        self.certificates = certificates
        self.iceServers = iceServers
        self.usesServersOfDevices = usesServersOfDevices
        self.parts = parts
        self.logger = logger
    }

    /// Opens a channel or joins the open one; returns when it is prepared. For a transmission channel, `actions` needs
    /// `control`.
    ///
    /// - Parameters:
    ///   - actions: what the account may do with the device.
    ///   - definition: the wanted definitions in order, for example `low,mid`; `high` if it is absent.
    public func open(
        device: DeviceID, kind: ChannelKind = .monitor, actions: [CallAction] = [.view], definition: String? = nil
    ) async throws(IoTError) -> Use {
        try await open(
            device: device, deviceName: device.rawValue, kind: kind, source: .main, definition: definition,
            actions: actions
        ) { () throws(IoTError) in () }
    }

    /// Opens a channel or joins the open one; returns when it is prepared.
    ///
    /// - Parameters:
    ///   - definition: the wanted definitions, as in `WantedDefinition.list`.
    ///   - actions: what the account may do with the device; all users of a channel belong to one account.
    ///   - account: the account that an administrator's session calls for; `nil` for its own.
    ///   - own: what a live channel shows from the beginning. Live and playback channels are not shared.
    ///   - take: called before a connection is made; may throw to refuse it. Its result is kept while the connection
    ///     exists.
    package func open(
        device: DeviceID, deviceName: String, kind: ChannelKind, source: ChannelSource, definition: String? = nil,
        actions: [CallAction] = [.view], own: OwnCamera? = nil, as account: Principal? = nil,
        _ take: () throws(IoTError) -> any Sendable
    ) async throws(IoTError) -> Use {
        // `high` is what a call without a definition gets.
        let wanted = definition == Definition.high.rawValue ? nil : definition
        let key = Key(
            device: device, kind: kind, source: source, definition: wanted, account: account,
            number: kind == .playback ? opened + 1 : nil)
        if kind == .live,
            shared.keys.contains(where: { $0.kind == kind && $0.device == device && $0.account == account })
        {
            throw IoTError(.duplicateChannel, "this account has a live channel to the device")
        }
        let channel: MonitorChannel
        if let existing = shared[key] {
            channel = existing.channel
            shared[key]?.uses += 1
            do {
                try await existing.prepared.get()
            } catch {
                throw error as? IoTError ?? IoTError(.connectFailed, underlying: error)
            }
        } else {
            channel = try await connect(key, actions, own, try take())
        }
        let use = Use(id: Hex.random(byteCount: 8), deviceName: deviceName, channel: channel)
        await channel.join(use.id)
        uses[use.id] = use
        return use
    }

    private func connect(
        _ key: Key, _ actions: [CallAction], _ own: OwnCamera?, _ part: any Sendable
    ) async throws(IoTError) -> MonitorChannel {
        let hasOwnSocket = !calledFromSocket.insert(key.device).inserted
        opened += 1
        let channel = MonitorChannel(
            number: opened, device: key.device, kind: key.kind, source: key.source, definition: key.definition,
            actions: actions, as: key.account, calls: calls,
            socket: ChannelSocket(shared: socket, isOwn: hasOwnSocket, logger: logger),
            certificates: certificates, iceServers: iceServers, usesServersOfDevices: usesServersOfDevices,
            parts: parts, logger: logger)
        let promise = socket.eventLoop.makePromise(of: Void.self)
        shared[key] = Shared(
            channel: channel, hasOwnSocket: hasOwnSocket, part: part, prepared: promise.futureResult, uses: 1)
        do throws(IoTError) {
            try await channel.prepare(showing: own)
            promise.succeed()
            return channel
        } catch {
            shared[key] = nil
            if !hasOwnSocket { calledFromSocket.remove(key.device) }
            promise.fail(error)
            throw error
        }
    }

    public func use(_ id: String) throws(IoTError) -> Use {
        guard let use = uses[id] else {
            throw IoTError(.notFound, "there is no channel \(id)", remedy: "open a new one")
        }
        return use
    }

    public var all: [Use] {
        uses.values.sorted { $0.id < $1.id }
    }

    /// The number of connections that are established or being made.
    public var count: Int { shared.count }

    /// Ends a use; the last one closes the channel.
    public func close(_ id: String) async {
        guard let use = uses.removeValue(forKey: id) else { return }
        await use.channel.leave(id)
        let key = Key(
            device: use.channel.device, kind: use.channel.kind, source: use.channel.source,
            definition: use.channel.definition, account: use.channel.account,
            number: use.channel.kind == .playback ? use.channel.number : nil)
        guard shared[key]?.channel === use.channel else { return await use.channel.stop() }
        shared[key]?.uses -= 1
        guard shared[key]?.uses == 0 else { return }
        // After this call has stopped, the socket is free for another call to the device.
        let entry = shared.removeValue(forKey: key)
        await use.channel.stop()
        if entry?.hasOwnSocket == false { calledFromSocket.remove(key.device) }
    }

    public func closeAll() async {
        for id in Array(uses.keys) { await close(id) }
    }
}
