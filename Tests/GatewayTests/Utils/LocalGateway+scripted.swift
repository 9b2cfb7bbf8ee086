import GatewayAPI
import IoTCore
import IoTLink
import Logging
import MediaChannel
import NIOCore
import NIOPosix
import PeerTransport

@testable import Gateway

/// A gateway of the account `owner` with a scripted hub, which never answers a call.
func withGateway(
    _ link: ScriptedLink, _ body: (LocalGateway) async throws -> Void
) async throws {
    let logger = Logger(label: "test")
    let loops = MultiThreadedEventLoopGroup.singleton
    // The session stays in registration, so requests wait: no peer answers, and nothing runs that would end them.
    let silent = LinkSession(
        configuration: LinkConfiguration(
            principal: .user(AccessID(rawValue: "owner")!), token: .value(""),
            endpoint: .unixSocket(path: "/nonexistent")), logger: logger)
    silent.register()
    let socket = try await PeerSocket.bind(
        to: try SocketAddress(ipAddress: "127.0.0.1", port: 0), on: loops.next(), logger: logger)
    let calls = CallClient(link: silent)
    let registry = ChannelRegistry(
        calls: calls, socket: socket, certificates: try PeerCertificatePool(), iceServers: .none,
        usesServersOfDevices: false, logger: logger)
    let gateway = LocalGateway(
        link: link, accessId: AccessID(rawValue: "owner")!, registry: registry,
        relayed: RelayedCalls(calls: calls), fleet: NoCameras(), photos: PhotoStore(), hub: nil,
        uses: ChannelUses(registry: registry, idleTimeout: .seconds(30)))
    do {
        try await body(gateway)
    } catch {
        await socket.close()
        throw error
    }
    await socket.close()
}

extension LocalGateway {
    /// A session for the caller of a token. The token's id is the account's name.
    func session(of account: String, scope: Caller.Scope = .all) -> any GatewaySession {
        let caller = Caller(
            credentials: .token(account), account: AccessID(rawValue: account)!, isAdministrator: false, scope: scope)
        return session(for: leases.begin(caller) {})
    }
}
