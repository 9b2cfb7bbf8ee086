import Gateway
import Hummingbird
import IoTCore
import Logging
import NIOCore
import ServiceLifecycle

/// Serves the API on its listeners.
///
/// The gateway, which runs separately (`ServedGateway`), ends bodies and event streams.
///
/// The process's umask must be 0077 when `run` begins, so that no other user can connect before the socket has its
/// permissions.
final class APIServer: Service {
    private let servers: [ListenerServer]
    let limits: APILimits

    /// - Throws: `.invalidConfiguration` if a path is too long or a certificate cannot be used.
    init(
        gateway: any GatewayService, listeners: [APIListener], access: APIAccess = APIAccess(), audit: AuditLog?,
        metrics: MetricsRegistry = .shared, limits: APILimits = APILimits(), eventLoopGroup: any EventLoopGroup,
        logger: Logger
    ) throws(IoTError) {
        self.limits = limits
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

    /// Returns when every listener accepts connections.
    ///
    /// - Throws: why the server could not start.
    func waitUntilReady() async throws {
        for server in servers { _ = try await server.readiness.wait() }
    }

    /// The TCP ports, in the order of the listeners. Available after `waitUntilReady`.
    var boundPorts: [Int] {
        get async { await servers.asyncCompactMap { await $0.port } }
    }

    func run() async throws {
        do {
            try await serve()
        } catch {
            // Servers that have not started fail too, so that no task waits for them forever.
            for server in servers { server.readiness.settle(.failure(error)) }
            throw error
        }
    }

    private func serve() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for server in servers { group.addTask { try await server.run() } }
            // When one server fails, the others end too.
            while try await group.next() != nil {}
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
