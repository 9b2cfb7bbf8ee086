import Gateway
import Hummingbird
import IoTCore
import Logging
import NIOCore
import ServiceLifecycle

// How the daemon wires it:
//
//     let gateway = LocalGateway(
//         link:, accessId:, registry:, fleet: (any CameraFleet), photos:, hub:, uses: ChannelUses)
//     let server = try APIServer(
//         gateway: gateway,
//         listeners: [.unixSocket(path:), .tcp(host:, port:, tls: APITLS(certificateFile:, keyFile:))],
//         access: APIAccess(names: api.names, allowedOrigins: api.allowedOrigins),
//         audit: AuditLog(directory: DATA, logger:),
//         limits: APILimits with `requestTimeout`, eventLoopGroup:, logger:)
//
// `run()` also runs the gateway's own work (`GatewayService.run`); `ChannelSweep` stays a service of its own.
// `boundPorts` has the TCP ports, in order, behind `waitUntilReady()`.

/// Serves the API on its listeners.
///
/// The process's umask must be 0077 when `run` begins, so that nobody can connect before the socket has its rights.
final class APIServer: Service {
    private let gateway: any GatewayService
    private let servers: [ListenerServer]
    private let limits: APILimits
    private let logger: Logger

    /// - Throws: `.invalidConfiguration` for a path that is too long, or a certificate that cannot be used.
    init(
        gateway: any GatewayService, listeners: [APIListener], access: APIAccess = APIAccess(), audit: AuditLog?,
        metrics: MetricsRegistry = .shared, limits: APILimits = APILimits(), eventLoopGroup: any EventLoopGroup,
        logger: Logger
    ) throws(IoTError) {
        self.gateway = gateway
        self.limits = limits
        self.logger = logger
        var servers: [ListenerServer] = []
        for listener in listeners {
            let door = APIDoor(
                listener: listener, owner: gateway.account, access: access, tokens: gateway.tokens,
                connections: Connections(limits.connections(of: listener)))
            servers.append(
                try ListenerServer(
                    router: APIRouter(service: gateway, door: door, limits: limits, audit: audit, metrics: metrics),
                    eventLoopGroup: eventLoopGroup, logger: logger))
        }
        self.servers = servers
    }

    /// Returns when connections are accepted on every listener.
    ///
    /// - Throws: why the server could not start.
    func waitUntilReady() async throws {
        for server in servers { _ = try await server.readiness.wait() }
    }

    /// The TCP ports, in the order of the listeners; known behind `waitUntilReady`.
    var boundPorts: [Int] {
        get async { await servers.asyncCompactMap { await $0.port } }
    }

    func run() async throws {
        do {
            try await serve()
        } catch {
            // Those that did not come to their turn are not waited for in vain.
            for server in servers { server.readiness.settle(.failure(error)) }
            throw error
        }
    }

    private func serve() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (gateway, limits) = (gateway, limits)
            for server in servers { group.addTask { try await server.run() } }
            group.addTask {
                await gateway.run()
                // It ends before the servers do when the link has been told to stop.
                try await gracefulShutdown()
                try await Task.sleep(for: limits.stopTimeout + .seconds(1))
            }
            group.addTask {
                try await gracefulShutdown()
                await gateway.prepareToStop()
                try await Task.sleep(for: limits.stopTimeout)
            }
            // The servers end at a shutdown, or one fails, or the limit behind a shutdown passes.
            var left = servers.count
            while left > 0, try await group.next() != nil { left -= 1 }
            group.cancelAll()
        }
    }
}

extension Sequence where Self: Sendable {
    fileprivate func asyncCompactMap<Value>(_ transform: (Element) async -> Value?) async -> [Value] {
        var values: [Value] = []
        for element in self {
            if let value = await transform(element) { values.append(value) }
        }
        return values
    }
}
