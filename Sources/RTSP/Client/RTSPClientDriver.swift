import CameraTLS
import Glibc
import IoTCore
import NIOCore
import NIOPosix

/// The sockets and timers of one session. Confined to its event loop.
final class RTSPClientDriver {
    private let eventLoop: any EventLoop
    private let onEvent: @Sendable (RTSPClientSession.Event) -> Void
    private let wantsFrames: @Sendable () -> Bool
    private var client: RTSPClient
    private var connection: (any Channel)?
    /// The number of the newest connection. Events of earlier connections are ignored.
    private var generation = 0
    private var ports: [Int: DatagramPair] = [:]
    private var timer: (due: NIODeadline, task: Scheduled<Void>)?
    private(set) var isReading = true
    private var isStopped = false

    /// The bytes of sound that may wait, in the kernel and here: about a second of G.711 each.
    private static let soundBufferSize: ChannelOptions.Types.SocketOption.Value = 8_192

    init(
        _ configuration: RTSPClientConfiguration, eventLoop: any EventLoop,
        wantsFrames: @escaping @Sendable () -> Bool,
        onEvent: @escaping @Sendable (RTSPClientSession.Event) -> Void
    ) {
        self.eventLoop = eventLoop
        self.wantsFrames = wantsFrames
        self.onEvent = onEvent
        client = RTSPClient(configuration, at: eventLoop.now)
    }

    func start() {
        client.start()
        pump()
    }

    func stop() {
        guard !isStopped else { return }
        client.stop()
        pump()
        close()
    }

    /// Stops or resumes reading if `wantsFrames` has changed. It is asked here, so that the order of the calls does not
    /// matter.
    func updateReading() {
        let isReading = wantsFrames()
        guard !isStopped, self.isReading != isReading else { return }
        self.isReading = isReading
        if isReading { client.resumed(at: eventLoop.now) }
        connection?.setOption(.autoRead, value: isReading).whenFailure { _ in }
        for pair in ports.values { pair.setReading(isReading) }
        // Last, because the frames of the remaining bytes may stop reading again.
        if isReading { connection?.pipeline.fireUserInboundEventTriggered(ReadingResumed()) }
    }

    func send(sound: ByteBuffer, sampleCount: Int) {
        guard !isStopped else { return }
        client.send(sound: sound, sampleCount: sampleCount, at: eventLoop.now)
        pump()
    }

    // MARK: Input

    func receive(_ message: RTSPMessage, _ generation: Int) {
        guard generation == self.generation else { return }
        client.receive(message, at: eventLoop.now)
        if client.hasOutputs { pump() }
    }

    func receive(_ error: RTSPParseError, _ generation: Int) {
        guard generation == self.generation else { return }
        client.receive(error)
        pump()
    }

    /// Called after the last message of one read. Updates the timer.
    func readComplete(_ generation: Int) {
        guard generation == self.generation else { return }
        pump()
    }

    func disconnected(_ error: IoTError?, _ generation: Int) {
        guard generation == self.generation, !isStopped else { return }
        client.disconnected(error)
        pump()
    }

    func receive(datagram: ByteBuffer, track: Int, isControl: Bool, _ generation: Int) {
        guard generation == self.generation else { return }
        client.receive(datagram: datagram, track: track, isControl: isControl, at: eventLoop.now)
        pump()
    }

    // MARK: Output

    private func pump() {
        while !isStopped, let output = client.poll() {
            switch output {
            case .connect(let url): connect(url)
            case .send(let bytes): send(bytes)
            case .packet(let bytes):
                guard let connection, connection.isWritable else { continue }
                connection.writeAndFlush(bytes, promise: nil)
            case .openPorts(let track): openPorts(track)
            case .datagram(let bytes, let track, let isControl, let port):
                ports[track]?.send(bytes, isControl: isControl, to: connection?.remoteAddress, port: port)
            case .opened(let video, let audio, let unsupported):
                onEvent(.opened(video: video, audio: audio, unsupported: unsupported))
            case .frame(let frame): onEvent(.frame(frame))
            case .backChannelOpened(let format, let profile): onEvent(.backChannelOpened(format, profile))
            case .timeout(let due): return schedule(due)
            case .failed(let error):
                close()
                onEvent(.failed(error))
            }
        }
    }

    private func schedule(_ due: NIODeadline) {
        // A later deadline waits until this timer fires, because a new timer for each packet would cost more.
        if let timer, timer.due <= due { return }
        timer?.task.cancel()
        let box = NIOLoopBound(self, eventLoop: eventLoop)
        timer = (due, eventLoop.scheduleTask(deadline: due) { box.value.timerFired() })
    }

    private func timerFired() {
        timer = nil
        guard !isStopped else { return }
        let now = eventLoop.now
        if !isReading { client.resumed(at: now) }
        client.handleTimeout(at: now)
        pump()
    }

    private func close() {
        isStopped = true
        generation += 1
        timer?.task.cancel()
        timer = nil
        connection?.close(promise: nil)
        closePorts()
    }

    private func closePorts() {
        for pair in ports.values { pair.close() }
        ports = [:]
    }

    // MARK: Connection

    private func connect(_ url: ServiceURL) {
        generation += 1
        let number = generation
        connection?.close(promise: nil)
        connection = nil
        closePorts()
        let box = NIOLoopBound(self, eventLoop: eventLoop)
        var connecting = ClientBootstrap(group: eventLoop)
            .connectTimeout(client.configuration.openTimeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 65_536))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try box.value.addHandlers(to: channel.pipeline.syncOperations, url, number)
                }
            }
        if client.configuration.purpose == .backChannel {
            connecting =
                connecting
                .channelOption(.socketOption(.so_sndbuf), value: Self.soundBufferSize)
                .channelOption(
                    .writeBufferWaterMark,
                    value: .init(low: Int(Self.soundBufferSize) / 4, high: Int(Self.soundBufferSize)))
        }
        connecting.connect(host: url.host, port: url.portOrDefault).whenComplete { result in
            box.value.connected(result, url, number)
        }
    }

    private func addHandlers(
        to pipeline: ChannelPipeline.SynchronousOperations, _ url: ServiceURL, _ number: Int
    ) throws {
        if url.scheme == "rtsps" {
            let box = NIOLoopBound(self, eventLoop: eventLoop)
            let isRedirected =
                client.configuration.url.scheme != "rtsps" || client.trust != client.configuration.trust
            let handler = try CameraTLS.handler(to: url, trust: client.trust) { fingerprint in
                Self.remedy(fingerprint, isRedirected: isRedirected)
            } refuse: { error in
                box.value.disconnected(error, number)
            }
            try pipeline.addHandler(handler)
        }
        try pipeline.addHandler(
            RTSPStreamHandler(self, number) { error in
                if let failure = CameraTLS.describe(error, url) { self.disconnected(failure, number) }
            })
    }

    private static func remedy(_ fingerprint: CertificateDigest, isRedirected: Bool) -> String {
        guard !isRedirected else { return "use the rtsps:// address to which the camera redirects in its URL" }
        return "compare this fingerprint with the one on the camera's web page; if they are equal, set the camera's "
            + "`certificate` to it, or add --certificate \(fingerprint) to `iotctl camera`"
    }

    private func connected(_ result: Result<any Channel, any Error>, _ url: ServiceURL, _ number: Int) {
        guard number == generation, !isStopped else {
            if case .success(let channel) = result { channel.close(promise: nil) }
            return
        }
        switch result {
        case .success(let channel):
            connection = channel
            client.connected(at: eventLoop.now)
            pump()
        case .failure(let error):
            disconnected(Self.describe(error, url), number)
        }
    }

    private static func describe(_ error: any Error, _ url: ServiceURL) -> IoTError {
        if let failure = CameraTLS.describe(error, url) { return failure }
        let failure = error as? NIOConnectionError
        if let failure, failure.connectionErrors.isEmpty, failure.dnsAError != nil {
            return IoTError(
                .sourceHostUnknown, "the camera's host '\(url.host)' has no address",
                underlying: ConnectionFailure(reason: "unknown host"))
        }
        let cause = (failure?.connectionErrors.first?.error ?? error) as? IOError
        let reason = cause.map { String(cString: strerror($0.errnoCode)) } ?? "no answer in time"
        return IoTError(
            .sourceUnreachable, "the camera at \(url.host):\(url.portOrDefault) cannot be reached: \(reason)",
            underlying: ConnectionFailure(reason: reason))
    }

    /// Contains no address, because log lines must not contain addresses.
    private struct ConnectionFailure: Error, CustomStringConvertible {
        let reason: String
        var description: String { reason }
    }

    private func send(_ bytes: ByteBuffer) {
        guard let connection else { return }
        guard connection.isWritable else {
            return disconnected(
                IoTError(.sourceUnreachable, "the camera does not read the client's requests"), generation)
        }
        connection.writeAndFlush(bytes, promise: nil)
    }

    // MARK: UDP

    private func openPorts(_ track: Int) {
        guard let local = connection?.localAddress, let peer = connection?.remoteAddress else { return }
        let number = generation
        let box = NIOLoopBound(self, eventLoop: eventLoop)
        let receive = NIOLoopBound(
            { (bytes: ByteBuffer, isControl: Bool) in
                box.value.receive(datagram: bytes, track: track, isControl: isControl, number)
            }, eventLoop: eventLoop)
        DatagramPair.open(near: local, from: peer, eventLoop: eventLoop, onDatagram: receive)
            .whenComplete { result in box.value.opened(result, track, number) }
    }

    private func opened(_ result: Result<DatagramPair, any Error>, _ track: Int, _ number: Int) {
        guard number == generation, !isStopped else {
            if case .success(let pair) = result { pair.close() }
            return
        }
        switch result {
        case .success(let pair):
            ports[track] = pair
            client.portsOpened(track: track, rtp: pair.port)
            pump()
        case .failure(let error):
            disconnected(IoTError(.sourceUnreachable, "no UDP ports are free", underlying: error), number)
        }
    }
}
