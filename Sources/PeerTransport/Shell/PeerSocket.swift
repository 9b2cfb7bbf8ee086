public import IoTCore
public import Logging
public import NIOCore
import NIOPosix

/// One UDP port for any number of peers.
///
/// Two peers cannot share both addresses of a flow: to call one remote socket several times (two cameras of one box),
/// use a `PeerSocket` for each call.
public final class PeerSocket: Sendable {
    /// The bound address, which may be the unspecified address.
    public let localAddress: SocketAddress

    /// The addresses to signal to peers: `localAddress`, or the interfaces' addresses if that is unspecified.
    public let hostAddresses: [SocketAddress]

    public let eventLoop: any EventLoop
    private let channel: any Channel
    private let demultiplexer: NIOLoopBound<PeerDemultiplexer>

    /// The requested size of each kernel buffer. The kernel limits it to `net.core.rmem_max`.
    private static let bufferByteCount: Int = 4 << 20
    /// How many datagrams one read takes, or with UDP_GRO (udp(7)) how many runs of datagrams of one size from one peer.
    private static let readCount = System.supportsUDPReceiveOffload ? 8 : 16
    private static let maximumRead = System.supportsUDPReceiveOffload ? 65_536 : 2048

    private init(
        channel: any Channel, localAddress: SocketAddress, hostAddresses: [SocketAddress],
        demultiplexer: NIOLoopBound<PeerDemultiplexer>
    ) {
        self.channel = channel
        self.localAddress = localAddress
        self.hostAddresses = hostAddresses
        self.demultiplexer = demultiplexer
        eventLoop = channel.eventLoop
    }

    /// Binds a socket. With port 0 the system chooses a port; `::` also serves IPv4.
    ///
    /// - Parameter eventLoop: of a `MultiThreadedEventLoopGroup`; all peers of the socket run on it.
    public static func bind(
        to address: SocketAddress, on eventLoop: any EventLoop, logger: Logger
    ) async throws -> PeerSocket {
        let channel = try await DatagramBootstrap(group: eventLoop)
            .channelOption(.socketOption(.so_rcvbuf), value: bufferByteCount)
            .channelOption(.socketOption(.so_sndbuf), value: bufferByteCount)
            .channelOption(.datagramVectorReadMessageCount, value: readCount)
            // One call usually reads everything. If there is more, the selector reports it, which saves a call that
            // only finds the socket empty.
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: readCount * maximumRead)
            )
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if System.supportsUDPReceiveOffload, let options = channel.syncOptions {
                        try options.setOption(.datagramReceiveOffload, value: true)
                        try options.setOption(.datagramReceiveSegmentSize, value: true)
                    }
                    try channel.pipeline.syncOperations.addHandler(
                        PeerDemultiplexer(eventLoop: channel.eventLoop, logger: logger))
                }
            }
            .bind(to: address).get()
        do {
            return try await channel.eventLoop.submit {
                guard let local = channel.localAddress else {
                    throw IoTError(.internalFailure, "a bound socket has no address")
                }
                let handler = try channel.pipeline.syncOperations.handler(type: PeerDemultiplexer.self)
                return PeerSocket(
                    channel: channel, localAddress: local, hostAddresses: try HostAddresses.of(local),
                    demultiplexer: NIOLoopBound(handler, eventLoop: channel.eventLoop))
            }.get()
        } catch {
            try? await channel.close().get()
            throw error
        }
    }

    /// Makes a new peer of this socket. Call it on the event loop; `onEvent` is called there, never during this call.
    ///
    /// - Parameter configuration: if it has no host addresses, it gets the socket's.
    /// - Throws: `stopping` when the socket is closed.
    public func makePeer(
        configuration: PeerConfiguration, certificate: PeerCertificate, onEvent: @escaping (PeerEvent) -> Void
    ) throws(IoTError) -> Peer {
        let demultiplexer = demultiplexer.value
        guard demultiplexer.isActive else { throw IoTError(.stopping, "the datagram socket is closed") }
        var configuration = configuration
        if configuration.hostAddresses.isEmpty, configuration.hasAllHostAddresses {
            configuration.hostAddresses = hostAddresses
        }
        let connection = PeerConnection(
            configuration: configuration, certificate: certificate, now: eventLoop.now)
        connection.datagramPool = demultiplexer.pool
        let peer = Peer(
            connection: connection, socket: demultiplexer, eventLoop: eventLoop, onEvent: onEvent)
        demultiplexer.add(peer)
        return peer
    }

    /// Use it on the event loop only.
    public var statistics: PeerSocketStatistics {
        demultiplexer.value.statistics
    }

    /// Closes every peer with a goodbye, then the socket. A second call does nothing.
    public func close() async {
        try? await eventLoop.submit { self.demultiplexer.value.closeAll() }.get()
        try? await channel.close().get()
    }
}
