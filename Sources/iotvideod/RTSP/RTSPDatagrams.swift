import Glibc
import IoTCore
import MediaChannel
import NIOCore
import NIOPosix
import PeerTransport
import RTP
import RTSP
import Synchronization

/// The two UDP ports of the RTSP server, which all its players share. The even port sends RTP; the next port sends and
/// receives RTCP (RFC 3550 §11).
final class RTSPDatagrams: Sendable {
    /// The largest number of players' addresses.
    private static let maximumListeners = 4_096

    let ports: TransportHeader.Pair<UInt16>
    private let channels: [any Channel]
    private let eventLoop: any EventLoop
    private let state: NIOLoopBoundBox<State>
    /// For sending without the sockets' event loop; `nil` if the system has no more descriptors.
    private let direct: (media: DirectSocket?, reports: DirectSocket?)

    private struct State {
        var media: DatagramPort
        var reports: DatagramPort
    }

    private init(
        _ channels: [any Channel], _ state: NIOLoopBoundBox<State>,
        _ direct: (media: DirectSocket?, reports: DirectSocket?), ports: TransportHeader.Pair<UInt16>
    ) {
        self.direct = direct
        self.channels = channels
        self.state = state
        self.ports = ports
        eventLoop = channels[0].eventLoop
    }

    /// - Parameter port: An even port; 0 means two free ports.
    static func bind(_ host: String, port: Int, on loop: any EventLoop) async throws -> RTSPDatagrams {
        var attempts = port == 0 ? 64 : 1
        while true {
            attempts -= 1
            let first = try await open(host, port, on: loop)
            let number = first.localAddress?.port ?? 0
            do {
                guard number % 2 == 0, number < 65_535 else { throw IoTError(.addressInUse) }
                let second = try await open(host, number + 1, on: loop)
                return try await make([first, second], number, on: loop)
            } catch {
                try? await first.close()
                guard attempts > 0 else { throw error }
            }
        }
    }

    private static func open(_ host: String, _ port: Int, on loop: any EventLoop) async throws -> any Channel {
        try await DatagramBootstrap(group: loop)
            .channelOption(.socketOption(.init(rawValue: 7)), value: 1 << 21)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DatagramPort(channel.eventLoop))
                }
            }
            .bind(host: host, port: port).get()
    }

    private static func make(_ channels: [any Channel], _ number: Int, on loop: any EventLoop) async throws
        -> RTSPDatagrams
    {
        let (state, direct) = try await loop.submit {
            let ports = try channels.map { try $0.pipeline.syncOperations.handler(type: DatagramPort.self) }
            return (
                NIOLoopBoundBox(State(media: ports[0], reports: ports[1]), eventLoop: loop),
                (media: ports[0].direct, reports: ports[1].direct)
            )
        }.get()
        return RTSPDatagrams(
            channels, state, direct, ports: TransportHeader.Pair(UInt16(clamping: number), UInt16(clamping: number + 1))
        )
    }

    func close() async {
        for channel in channels { try? await channel.close() }
    }

    /// Sends the packets of a run directly, until the socket does not accept one.
    ///
    /// - Returns: The number of packets that were sent.
    func send(_ run: PacketRun, to address: SocketAddress) -> Int {
        guard let media = direct.media, !media.isBlocked.load(ordering: .relaxed) else { return 0 }
        return run.bytes.withUnsafeReadableBytes { bytes in
            var (sent, offset) = (0, 0)
            while sent < run.sizes.count {
                let count = run.segmentCount(from: sent, maximum: DatagramSender.maximumSegments)
                let length = run.sizes[sent..<sent + count].reduce(0, +)
                let part = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
                switch DatagramSender.send(
                    part, segment: count > 1 ? run.sizes[sent] : nil, to: address, through: media.descriptor)
                {
                // The queue sends what the kernel does not accept now, or only one by one.
                case EAGAIN, ENOBUFS, ENOMEM, EIO, EINVAL, ENOPROTOOPT: return sent
                // Sent, or lost: the player's network cannot be reached.
                default: (sent, offset) = (sent + count, offset + length)
                }
            }
            return sent
        }
    }

    /// Sends reports directly. One that the socket does not accept is lost; the next one replaces it.
    ///
    /// - Returns: false if nothing is sent directly.
    func send(reports batch: ReaderBatch, to tracks: [Int: DatagramSink.Addresses]) -> Bool {
        guard let reports = direct.reports else { return false }
        batch.forEach(tracks) { datagram, _, place in
            datagram.withUnsafeReadableBytes {
                _ = DatagramSender.send($0, segment: nil, to: place.rtcp, through: reports.descriptor)
            }
        }
        return true
    }

    /// - Parameter done: Called when the packets are in the sockets' queues.
    func send(_ batch: ReaderBatch, to tracks: [Int: DatagramSink.Addresses], done: @escaping @Sendable () -> Void) {
        eventLoop.execute { [state] in
            batch.forEach(tracks) { datagram, isReport, place in
                let (port, address) =
                    isReport ? (state.value.reports, place.rtcp) : (state.value.media, place.rtp)
                port.write(datagram, to: address)
            }
            done()
        }
    }

    /// Receives the reports from an address.
    func listen(
        to address: SocketAddress, for owner: ObjectIdentifier, _ onReport: @escaping @Sendable (ByteBuffer) -> Void
    ) {
        eventLoop.execute { [state] in
            let reports = state.value.reports
            guard reports.listeners.count < Self.maximumListeners else { return }
            reports.listeners[address] = (owner, onReport)
        }
    }

    func stopListening(to address: SocketAddress, for owner: ObjectIdentifier) {
        eventLoop.execute { [state] in
            let reports = state.value.reports
            if reports.listeners[address]?.owner == owner { reports.listeners[address] = nil }
        }
    }
}

extension ReaderBatch {
    /// Calls `body` for each packet whose track has addresses.
    fileprivate func forEach(
        _ tracks: [Int: DatagramSink.Addresses],
        _ body: (_ datagram: ByteBuffer, _ isReport: Bool, _ place: DatagramSink.Addresses) -> Void
    ) {
        var rest = bytes
        for packet in packets {
            guard let datagram = rest.readSlice(length: packet.length), let place = tracks[packet.index] else {
                continue
            }
            body(datagram, packet.isReport, place)
        }
    }
}

/// A UDP socket for use from any thread.
private final class DirectSocket: Sendable {
    /// Our own, because NIO closes the channel's at its end, and the number can be another socket's then.
    let descriptor: CInt
    /// Whether datagrams wait in the queue of the `DatagramPort`: later ones must follow them.
    let isBlocked = Atomic<Bool>(false)

    init?(_ descriptor: CInt) {
        self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        if self.descriptor < 0 { return nil }
    }

    deinit { Glibc.close(descriptor) }
}

/// One UDP socket. Confined to its event loop.
private final class DatagramPort: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    var listeners: [SocketAddress: (owner: ObjectIdentifier, onReport: @Sendable (ByteBuffer) -> Void)] = [:]
    private let eventLoop: any EventLoop
    private let sender = DatagramSender(pool: DatagramPool())
    /// The channel's descriptor; valid only while the channel is active.
    private var descriptor: NIOBSDSocket.Handle?
    private var isFlushScheduled = false
    private(set) var direct: DirectSocket?

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func channelActive(context: ChannelHandlerContext) {
        descriptor = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable { $0 }
        direct = descriptor.flatMap { DirectSocket($0) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        descriptor = nil
        listeners = [:]
    }

    /// Drops datagrams from unknown addresses.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        listeners[envelope.remoteAddress]?.onReport(envelope.data)
    }

    /// Ignores errors: if one player's port is closed, the kernel reports an error for the shared socket.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}

    /// The datagrams to all players in one tick of the loop are sent together.
    func write(_ datagram: ByteBuffer, to address: SocketAddress) {
        direct?.isBlocked.store(true, ordering: .relaxed)
        sender.append(datagram, to: address)
        flushSoon(after: nil)
    }

    private func flushSoon(after delay: TimeAmount?) {
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        let loop = eventLoop.assumeIsolated()
        if let delay {
            loop.scheduleTask(in: delay) { self.flush() }
        } else {
            loop.execute { self.flush() }
        }
    }

    private func flush() {
        isFlushScheduled = false
        defer { if sender.queuedCount == 0 { direct?.isBlocked.store(false, ordering: .relaxed) } }
        guard sender.queuedCount > 0, let descriptor else { return }
        // NIO reports writability only for sockets that it writes to itself.
        if case .blocked = sender.flush(through: descriptor) { flushSoon(after: .milliseconds(1)) }
    }
}
