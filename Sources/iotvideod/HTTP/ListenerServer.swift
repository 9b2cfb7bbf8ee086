import Glibc
import Hummingbird
import HummingbirdCore
import IoTCore
import LinkHub
import Logging
import NIOCore
import ServiceLifecycle

/// The HTTP server of one listener.
final class ListenerServer: Sendable {
    struct Ready: Sendable {
        /// The inode number of the socket's file.
        var identity: Int?
        /// The TCP port.
        var port: Int?
    }

    private let router: APIRouter
    private let socket: UnixSocketPath?
    private let tls: TLSContext?
    private let eventLoopGroup: any EventLoopGroup
    private let logger: Logger
    let readiness = Readiness<Ready>()

    /// - Throws: `.invalidConfiguration` if the path is too long or the certificate cannot be used.
    init(router: APIRouter, eventLoopGroup: any EventLoopGroup, logger: Logger) throws(IoTError) {
        self.router = router
        self.eventLoopGroup = eventLoopGroup
        self.logger = logger
        switch router.door.listener {
        case .unixSocket(let path):
            socket = try UnixSocketPath(path)
            tls = nil
        case .tcp(_, _, let files):
            socket = nil
            if let files { tls = try TLSContext(files) } else { tls = nil }
        }
    }

    /// `nil` for a Unix socket, and for a server that did not start.
    var port: Int? {
        get async { (try? await readiness.wait())?.port }
    }

    func run() async throws {
        do {
            try socket?.prepare()
            try await serve()
            socket?.remove(ifStill: try? await readiness.wait().identity)
        } catch let error as IoTError {
            readiness.settle(.failure(error))
            throw error
        } catch {
            let failure = failure(error)
            readiness.settle(.failure(failure))
            throw failure
        }
    }

    private func failure(_ error: any Error) -> IoTError {
        switch (router.door.listener, error) {
        case (.tcp(let host, let port, _), let error as IOError):
            ListenFailure.error(
                "api.listen", .tcp, host: host, port: port, reason: error.errnoCode, underlying: error)
        case (.tcp(let host, let port, _), _):
            IoTError(.internalFailure, "api.listen: \(host):\(port) cannot serve requests: \(error)", underlying: error)
        case (.unixSocket(let path), let error as IOError):
            IoTError(
                .fileFailed, "socket: \(path) cannot be opened: \(String(cString: strerror(error.errnoCode)))",
                remedy: "check the permissions of its directory, or set another path with `socket` or --socket",
                underlying: error)
        case (.unixSocket(let path), _):
            IoTError(.internalFailure, "socket: \(path) cannot serve requests: \(error)", underlying: error)
        }
    }

    private var address: BindAddress {
        switch router.door.listener {
        case .unixSocket(let path): .unixDomainSocket(path: path)
        case .tcp(let host, let port, _): .hostname(host, port: port)
        }
    }

    private func serve() async throws {
        let application = Application(
            router: router.make(), server: builder(),
            configuration: ApplicationConfiguration(address: address),
            onServerRunning: { [readiness, socket] channel in
                // The server accepts connections when this returns.
                do throws(IoTError) {
                    try socket?.restrict()
                    readiness.settle(.success(Ready(identity: socket?.identity, port: channel.localAddress?.port)))
                } catch {
                    readiness.settle(.failure(error))
                }
            },
            eventLoopGroupProvider: .shared(eventLoopGroup), logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            group.addTask { [self] in
                // Throws if the socket's permissions could not be set, which ends the server.
                _ = try await readiness.wait()
                try await TLSContext.watch(tls, logger)
            }
            try await group.next()
            group.cancelAll()
        }
    }

    private func builder() -> HTTPServerBuilder {
        let limits = router.limits
        let connections = router.door.connections
        let logger = logger
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [RequestGuard(limits: limits, connections: connections, logger: logger)],
            idleTimeout: limits.idleTimeout,
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.headerFieldSize, maxHeaderListSize: limits.headerListSize,
                maxHeaderFieldCount: limits.headerFieldCount))
        let needsHost = !router.door.listener.isUnixSocket
        return HTTPServerBuilder { [tls] responder in
            let http = HTTP1Channel(responder: responder, configuration: configuration)
            guard let tls else { return GuardedChannel(base: http, connections: connections, needsHost: needsHost) }
            return GuardedChannel(
                base: TLSServerChannel(base: http, context: tls), connections: connections, needsHost: needsHost)
        }
    }
}
