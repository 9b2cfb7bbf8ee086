import Gateway
import IoTCore
import LinkHub
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import PeerTransport
import RTSP
import ServiceLifecycle

/// Serves the cameras of this box to RTSP players. A front end of the gateway (docs/architecture.md).
final class RTSPServer: Service {
    /// The largest number of open connections, in total and from one address.
    static let connectionBound = QuotaBound(total: 512, each: 256)

    private let gateway: any GatewayService
    private let address: ListenAddress
    private let udpPort: Int
    private let tls: TLSContext?
    private let loops: any EventLoopGroup
    private let limits: RTSPServerLimits
    private let record: RTSPRecord
    private let logger: Logger

    /// The TCP port.
    let readiness = Readiness<Int>()

    /// - Parameter udpPort: The even port for RTP; 0 means two free ports. Not used with `tls`, because packets by UDP
    ///   are not encrypted.
    init(
        gateway: any GatewayService, address: ListenAddress, udpPort: Int, tls: TLSContext?,
        loops: any EventLoopGroup, limits: RTSPServerLimits = RTSPServerLimits(), record: RTSPRecord,
        logger: Logger
    ) {
        self.gateway = gateway
        self.address = address
        self.udpPort = udpPort
        self.tls = tls
        self.loops = loops
        self.limits = limits
        self.record = record
        self.logger = logger
    }

    func run() async throws {
        do {
            let datagrams = tls == nil ? try await bindDatagrams() : nil
            let result = await Result { try await serve(datagrams) }
            await datagrams?.close()
            try result.get()
        } catch {
            let failure = failure(error)
            readiness.settle(.failure(failure))
            throw failure
        }
    }

    private func bindDatagrams() async throws -> RTSPDatagrams {
        do {
            return try await RTSPDatagrams.bind(address.host, port: udpPort, on: loops.next())
        } catch let error as IOError {
            throw ListenFailure.error(
                "rtsp.udpPort", .udp, host: address.host, port: udpPort, reason: error.errnoCode, underlying: error)
        }
    }

    private func failure(_ error: any Error) -> any Error {
        switch error {
        case let error as IOError:
            ListenFailure.error(
                "rtsp.listen", .tcp, host: address.host, port: address.port, reason: error.errnoCode, underlying: error)
        default: error
        }
    }

    private func serve(_ datagrams: RTSPDatagrams?) async throws {
        let connections = Connections(Self.connectionBound)
        let door = RTSPDoor(
            gateway: gateway, connections: connections, datagrams: datagrams, limits: limits, record: record,
            logger: logger)
        let listener = try await listen(connections)
        readiness.settle(.success(listener.channel.localAddress?.port ?? 0))
        await withTaskGroup(of: Void.self) { [self] group in
            group.addTask { [self] in try? await TLSContext.watch(tls, logger) }
            group.addTask { await listener.serveUntilShutdown { client in await PlayerConnection.serve(client, door) } }
            await group.next()
            group.cancelAll()
        }
    }

    private typealias Client = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private func listen(_ connections: Connections) async throws -> NIOAsyncChannel<Client, Never> {
        try await ServerBootstrap(group: loops)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // Limits the bytes that wait in the kernel, because they cannot be skipped for a slow player.
            .childChannelOption(.tcpOption(Self.notSentLowWater), value: 131_072)
            .bind(host: address.host, port: address.port) { [tls] channel in
                channel.eventLoop.makeCompletedFuture {
                    // If there is no room, NIO closes the connection, because its initialization fails.
                    try connections.admit(channel)
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls.current))
                    }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 4)))
                }
            }
    }

    /// TCP_NOTSENT_LOWAT (tcp(7)), which NIO does not define.
    private static let notSentLowWater = NIOBSDSocket.Option(rawValue: 25)
}

/// The values that all connections of the server share.
struct RTSPDoor: Sendable {
    let gateway: any GatewayService
    let connections: Connections
    /// `nil` with TLS.
    let datagrams: RTSPDatagrams?
    let limits: RTSPServerLimits
    let record: RTSPRecord
    let logger: Logger
}
