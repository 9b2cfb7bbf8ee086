import Hummingbird
import IoTCore
import Logging
import NIOCore
import ServiceLifecycle

/// Serves the API on a Unix socket.
///
/// The process's umask must be 0077 when `run` begins, so that nobody can connect before the socket has its rights.
final class APIServer: Service {
    /// Open connections; one more waits in the kernel's queue.
    private static let maximumConnections = 512

    /// How long open bodies may take to end in order when the daemon stops.
    private static let stopLimit = Duration.seconds(3)

    private let gateway: any Gateway
    private let socket: UnixSocketPath
    private let eventLoopGroup: any EventLoopGroup
    private let logger: Logger
    /// Settled with the identity of the socket's file.
    private let readiness = Readiness<Int?>()

    /// - Throws: `.invalidConfiguration` for a path that is too long.
    init(
        gateway: any Gateway, socket path: String, eventLoopGroup: any EventLoopGroup, logger: Logger
    ) throws(IoTError) {
        self.gateway = gateway
        self.socket = try UnixSocketPath(path)
        self.eventLoopGroup = eventLoopGroup
        self.logger = logger
    }

    /// Returns when connections are accepted.
    ///
    /// - Throws: why the server could not start.
    func waitUntilReady() async throws {
        _ = try await readiness.wait()
    }

    func run() async throws {
        do {
            try socket.prepare()
            let identity = try await serve()
            socket.remove(ifStill: identity)
        } catch let error as IoTError {
            readiness.settle(.failure(error))
            throw error
        } catch {
            let failure = IoTError(
                .fileFailed, "the socket \(socket.path) cannot be opened: \(error)", underlying: error)
            readiness.settle(.failure(failure))
            throw failure
        }
    }

    /// Serves until the graceful shutdown is through; gives what the socket's file was.
    private func serve() async throws -> Int? {
        let application = Application(
            router: APIRouter.make(APIRoutes.all, gateway: gateway),
            configuration: ApplicationConfiguration(
                address: .unixDomainSocket(path: socket.path),
                availableConnectionsDelegate: .maximum(Self.maximumConnections, logger: logger)),
            onServerRunning: { [self] _ in
                // Serving begins when this returns.
                readiness.settle(Result { try socket.restrict() }.map { socket.identity })
            },
            eventLoopGroupProvider: .shared(eventLoopGroup), logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            group.addTask { [gateway, readiness] in
                // Throws when the socket's rights could not be set, which ends the server.
                _ = try await readiness.wait()
                try await gracefulShutdown()
                await gateway.prepareToStop()
                try await Task.sleep(for: Self.stopLimit)
            }
            // The first to end is the application, or the limit behind a shutdown.
            try await group.next()
            group.cancelAll()
        }
        return try? await readiness.wait()
    }
}
