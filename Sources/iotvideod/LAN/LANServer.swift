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

    private let address: ListenAddress
    private let door: LANDoor
    private let loops: any EventLoopGroup

    init(_ address: ListenAddress, _ door: LANDoor, on loops: any EventLoopGroup) {
        self.address = address
        self.door = door
        self.loops = loops
    }

    private func listen(_ connections: Connections) async throws -> Listener {
        let context = try door.makeContext()
        do {
            return try await ServerBootstrap(group: loops)
                .serverChannelOption(.backlog, value: 64)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: address.host, port: address.port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        // If there is no room, NIO closes the connection, because its initialization fails.
                        try connections.admit(channel)
                        let key = ProvenKey()
                        try channel.pipeline.syncOperations.addHandler(LANTLS.server(context, accept: key.accept))
                        return Visitor(client: try LANConnection.client(channel), key: key)
                    }
                }
        } catch let error as IOError {
            throw ListenFailure.error(
                "lan.listen", .tcp, host: address.host, port: address.port, reason: error.errnoCode, underlying: error)
        }
    }

    func run() async throws {
        let connections = Connections(Self.connectionBound)
        try await listen(connections).serveUntilShutdown { [door] visitor in
            await door.serve(visitor.client) {
                visitor.key.value
            } onBegin: {
                connections.serve(visitor.client.channel)
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
