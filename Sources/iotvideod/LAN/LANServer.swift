import Gateway
import IoTCore
import IoTLink
import LANLink
import LinkHub
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import PeerTransport
import ServiceLifecycle
import Synchronization
import ThingModel

/// Listens for gateways that reach this box's cameras over the local network, without the hub (`docs/lan.md`).
final class LANServer: Service {
    private typealias Listener = NIOAsyncChannel<Visitor, Never>

    /// A connection, and the key that its gateway has proved.
    private struct Visitor: Sendable {
        var client: LANConnection.Client
        var key: ProvenKey
    }

    /// Set during the handshake, before any message.
    private final class ProvenKey: Sendable {
        private let key = Mutex<DevicePublicKey?>(nil)
        var value: DevicePublicKey? { key.withLock { $0 } }
        func accept(_ new: DevicePublicKey) { key.withLock { $0 = new } }
    }

    /// The most connections, of which many may not have begun.
    private static let connectionBound = QuotaBound(total: 128, each: 32)
    /// The options of tcp(7) that NIO does not define, with which a peer that has vanished is noticed after 100 s.
    private enum KeepAlive {
        static let idle = (NIOBSDSocket.Option(rawValue: 4), seconds: 60)
        static let interval = (NIOBSDSocket.Option(rawValue: 5), seconds: 10)
        static let count = (NIOBSDSocket.Option(rawValue: 6), attempts: 4)
    }

    private let address: ListenAddress
    private let door: LANDoor
    private let loops: any EventLoopGroup

    init(_ address: ListenAddress, _ door: LANDoor, on loops: any EventLoopGroup) {
        self.address = address
        self.door = door
        self.loops = loops
    }

    private func listen() async throws -> Listener {
        let context = try door.makeContext()
        let connections = Connections(Self.connectionBound)
        do {
            return try await ServerBootstrap(group: loops)
                .serverChannelOption(.backlog, value: 64)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelOption(.socketOption(.so_keepalive), value: 1)
                .childChannelOption(.tcpOption(KeepAlive.idle.0), value: KeepAlive.idle.seconds)
                .childChannelOption(.tcpOption(KeepAlive.interval.0), value: KeepAlive.interval.seconds)
                .childChannelOption(.tcpOption(KeepAlive.count.0), value: KeepAlive.count.attempts)
                .bind(host: address.host, port: address.port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        // If there is no room, NIO closes the connection, because its initialization fails.
                        try connections.admit(channel)
                        let key = ProvenKey()
                        try channel.pipeline.syncOperations.addHandler(LANTLS.server(context, accept: key.accept))
                        let client = try LANConnection.Client(
                            wrappingChannelSynchronously: channel,
                            configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 4)))
                        return Visitor(client: client, key: key)
                    }
                }
        } catch let error as IOError {
            throw ListenFailure.error(
                "lan.listen", .tcp, host: address.host, port: address.port, reason: error.errnoCode, underlying: error)
        }
    }

    func run() async throws {
        let listener = try await listen()
        await cancelWhenGracefulShutdown { [self] in
            try? await listener.executeThenClose { visitors in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await visitor in visitors {
                        group.addTask { [door] in
                            await door.serve(visitor.client) { visitor.key.value }
                        }
                    }
                }
            }
        }
    }

    /// Where gateways reach it now.
    var place: LANPlace? {
        guard let local = try? SocketAddress(ipAddress: address.host, port: address.port),
            let found = try? HostAddresses.of(local)
        else { return nil }
        let addresses = found.compactMap(\.ipAddress)
        return addresses.isEmpty ? nil : LANPlace(port: address.port, addresses: addresses)
    }
}
