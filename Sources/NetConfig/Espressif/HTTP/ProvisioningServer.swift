import Glibc
public import IoTCore
public import Logging
import NIOCore
import NIOHTTP1
import NIOPosix

/// A device's provisioning mode over HTTP. It ends by itself: when the device is bound, when it is in its network
/// without an order for a hub, or when its time has ended.
public struct ProvisioningServer: Sendable {
    public struct Configuration: Sendable {
        public var host: String
        /// 0 chooses a free port.
        public var port: Int
        public var credential: DeviceCredential
        public var identity: DeviceIdentity
        /// 10 minutes.
        public var lifetime: Duration
        /// Whether the device is connected to its network by cable, so that it can get a hub without a Wi-Fi network.
        public var isWired: Bool

        public init(
            host: String, port: Int = 80, credential: DeviceCredential, identity: DeviceIdentity,
            lifetime: Duration = .seconds(600), isWired: Bool = false
        ) {
            self.host = host
            self.port = port
            self.credential = credential
            self.identity = identity
            self.lifetime = lifetime
            self.isWired = isWired
        }
    }

    /// Why the mode ended.
    public enum End: Sendable, Hashable {
        case bound
        case connected
        case timedOut
    }

    /// Binds the device at the hub. Called when the device is in its network. Returns the device's id at the hub, or `nil`
    /// if the device already knew it. The client gets the error that it throws.
    public typealias Binder = @Sendable (BindOrder) async throws(IoTError) -> String?

    static let connections = 16
    static let connectionsPerHost = 4

    private let configuration: Configuration
    private let applier: any WiFiApplier
    private let binder: Binder?
    private let logger: Logger
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameter binder: If `nil`, the device does not accept a hub and a token.
    public init(
        _ configuration: Configuration, applier: any WiFiApplier, binder: Binder?, logger: Logger
    ) {
        self.init(configuration, applier: applier, binder: binder, logger: logger, random: SystemRandom.bytes)
    }

    /// - Parameter random: Returns the requested number of random bytes; tests use deterministic ones.
    init(
        _ configuration: Configuration, applier: any WiFiApplier, binder: Binder?, logger: Logger,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.configuration = configuration
        self.applier = applier
        self.binder = binder
        self.logger = logger
        self.random = random
    }

    /// - Parameter onReady: Called with the port when the server listens.
    /// - Throws: `.addressInUse`, `.invalidConfiguration`; `CancellationError`.
    public func run(onReady: @Sendable (Int) -> Void = { _ in }) async throws -> End {
        let server = try await listen()
        let (effects, continuation) = AsyncStream.makeStream(
            of: ProvisioningDevice.Output.self, bufferingPolicy: .bufferingOldest(32))
        let core = ProvisioningDevice(
            .init(
                credential: configuration.credential, identity: configuration.identity,
                lifetime: TimeAmount(configuration.lifetime), binds: binder != nil, isWired: configuration.isWired),
            at: .now(), random: random)
        let mode = ProvisioningMode(core, effects: continuation)
        await mode.start()
        let port = server.channel.localAddress?.port ?? configuration.port
        onReady(port)
        logger.notice("provisioning mode began", metadata: ["provisioning.port": "\(port)"])
        let end = try await withThrowingTaskGroup(of: End?.self) { group in
            group.addTask {
                try await serve(server, mode)
                return nil
            }
            group.addTask { await carryOut(effects, mode) }
            defer { group.cancelAll() }
            while let end = try await group.next() {
                await mode.stop()
                if let end { return end }
            }
            throw CancellationError()
        }
        logger.notice("provisioning mode ended", metadata: ["provisioning.end": "\(end)"])
        return end
    }

    // MARK: The core's outputs

    private func carryOut(_ effects: AsyncStream<ProvisioningDevice.Output>, _ mode: ProvisioningMode) async -> End? {
        let shell = JoiningShell(applier: applier, binder: binder, logger: logger)
        return await withDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            for await effect in effects {
                switch effect {
                case .scan: group.addTask { await mode.scanned(await applier.scan()) }
                case .join(let step):
                    if let end = shell.begin(step, of: mode, in: &group) { return end }
                case .reply: break
                }
            }
            return nil
        }
    }
}

// MARK: Connections

extension ProvisioningServer {
    private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

    private func listen() async throws -> NIOAsyncChannel<Connection, Never> {
        do {
            return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: configuration.host, port: configuration.port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                        try pipeline.addHandlers(IdleStateHandler(readTimeout: .seconds(120)), IdleConnectionCloser())
                        return try Connection(wrappingChannelSynchronously: channel)
                    }
                }
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw IoTError(
                .addressInUse, "provisioning: \(configuration.host):\(configuration.port) is in use", underlying: error)
        } catch {
            throw IoTError(
                .invalidConfiguration,
                "provisioning: \(configuration.host):\(configuration.port) cannot be served: \(error)",
                underlying: error)
        }
    }

    private func serve(_ server: NIOAsyncChannel<Connection, Never>, _ mode: ProvisioningMode) async throws {
        let places = ConnectionPlaces(total: Self.connections, perHost: Self.connectionsPerHost)
        try await server.executeThenClose { inbound in
            try await withThrowingDiscardingTaskGroup { group in
                var number = 0
                for try await connection in inbound {
                    number += 1
                    let identifier = number
                    let host = connection.channel.remoteAddress?.ipAddress ?? ""
                    guard places.take(host) else {
                        // NIO ends the process for a connection that is not served.
                        group.addTask { try? await connection.executeThenClose { _, _ in } }
                        continue
                    }
                    group.addTask {
                        defer { places.leave(host) }
                        // An error of a connection ends only that connection.
                        try? await connection.executeThenClose { inbound, outbound in
                            try await answer(inbound, outbound, connection: identifier, mode)
                        }
                    }
                }
            }
        }
    }

    private func answer(
        _ inbound: NIOAsyncChannelInboundStream<HTTPServerRequestPart>,
        _ outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>, connection: Int, _ mode: ProvisioningMode
    ) async throws {
        var number = 0
        var head: HTTPRequestHead?
        var body: [UInt8] = []
        for try await part in inbound {
            switch part {
            case .head(let next):
                head = next
                body = []
                if let length = next.headers["Content-Length"].first.flatMap(Int.init),
                    length > ProvisioningReply.largestBody
                {
                    return try await write(ProvisioningReply(status: 413), outbound, keeps: false)
                }
            case .body(let buffer):
                body += Array(buffer: buffer)
                guard body.count <= ProvisioningReply.largestBody else {
                    return try await write(ProvisioningReply(status: 413), outbound, keeps: false)
                }
            case .end:
                guard let request = head else { return }
                head = nil
                guard request.method == .POST else {
                    try await write(ProvisioningReply(status: 405), outbound, keeps: false)
                    return
                }
                number += 1
                let reply = await mode.exchange(
                    ProvisioningRequest(
                        endpoint: String(request.uri.drop { $0 == "/" }), cookie: request.headers["Cookie"].first,
                        body: body),
                    from: .init(connection: connection, request: number))
                for event in await mode.takeEvents() where event == .wrongProof {
                    logger.warning("a client showed a wrong proof")
                }
                try await write(reply, outbound, keeps: request.isKeepAlive)
                if !request.isKeepAlive { return }
            }
        }
    }

    private func write(
        _ reply: ProvisioningReply, _ outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>, keeps: Bool
    ) async throws {
        var headers: HTTPHeaders = [
            "Content-Type": "application/octet-stream", "Content-Length": "\(reply.body.count)",
            "Cache-Control": "no-store",
        ]
        if let cookie = reply.cookie { headers.add(name: "Set-Cookie", value: cookie) }
        if let seconds = reply.retryAfter { headers.add(name: "Retry-After", value: "\(seconds)") }
        if !keeps { headers.add(name: "Connection", value: "close") }
        let status = HTTPResponseStatus(statusCode: reply.status)
        try await outbound.write(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers)))
        if !reply.body.isEmpty { try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: reply.body)))) }
        try await outbound.write(.end(nil))
    }
}

/// Closes a connection that was idle for some time.
private final class IdleConnectionCloser: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}
