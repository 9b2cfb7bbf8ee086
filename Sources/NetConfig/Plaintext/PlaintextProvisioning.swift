import Glibc
public import IoTCore
public import Logging
import NIOCore
import NIOPosix

/// A device's provisioning mode by the plaintext scheme, on UDP. Disabled by default, because anyone nearby can read the
/// Wi-Fi password and the token, and can bring the device into another network.
///
/// The mode ends by itself, like `ProvisioningServer`. Both have the same outcomes, appliers and binders.
public struct PlaintextProvisioning: Sendable {
    public struct Configuration: Sendable {
        /// An address of the device's own network.
        public var host: String
        /// 0 for any free port.
        public var port: Int
        public var identity: DeviceIdentity
        public var productID: String
        /// The hub for a token that is sent without a hub's address, as the apps of other makers do.
        public var hub: String?
        /// 10 minutes.
        public var lifetime: Duration

        public init(
            host: String, port: Int = PlaintextProvisioner.port, identity: DeviceIdentity,
            productID: String = "iotvideod", hub: String? = nil, lifetime: Duration = .seconds(600)
        ) {
            self.host = host
            self.port = port
            self.identity = identity
            self.productID = productID
            self.hub = hub
            self.lifetime = lifetime
        }
    }

    /// Throws if the device cannot use the order. It is called before the device joins the network, because the scheme
    /// reports nothing afterwards.
    public typealias OrderCheck = @Sendable (BindOrder) throws(IoTError) -> Void

    private let configuration: Configuration
    private let check: OrderCheck
    private let shell: JoiningShell
    private let interfaces: @Sendable () -> [LANInterface]

    /// - Parameter binder: If `nil`, the device ignores the hub and the token.
    public init(
        _ configuration: Configuration, applier: any WiFiApplier, binder: ProvisioningServer.Binder?,
        check: @escaping OrderCheck = { _ in }, logger: Logger
    ) {
        self.init(configuration, applier: applier, binder: binder, check: check, logger: logger) {
            LANInterface.all() + [LANInterface.loopback()].compactMap { $0 }
        }
    }

    /// - Parameter interfaces: The interfaces on whose links requests are answered.
    init(
        _ configuration: Configuration, applier: any WiFiApplier, binder: ProvisioningServer.Binder?,
        check: @escaping OrderCheck, logger: Logger,
        interfaces: @escaping @Sendable () -> [LANInterface]
    ) {
        self.configuration = configuration
        self.check = check
        shell = JoiningShell(applier: applier, binder: binder, logger: logger)
        self.interfaces = interfaces
    }

    /// - Parameter onReady: called with the port when the socket is bound.
    /// - Throws: `.addressInUse`, `.invalidConfiguration`; `CancellationError`.
    public func run(onReady: @Sendable (Int) -> Void = { _ in }) async throws -> ProvisioningServer.End {
        let socket = try await listen()
        let (steps, continuation) = AsyncStream.makeStream(
            of: DeviceJoining.Step.self, bufferingPolicy: .bufferingOldest(32))
        let mode = PlaintextMode(
            PlaintextDevice(
                .init(
                    identity: configuration.identity, productID: configuration.productID, hub: configuration.hub,
                    lifetime: TimeAmount(configuration.lifetime), binds: shell.binder != nil, check: check),
                at: .now()),
            interfaces: interfaces, steps: continuation)
        await mode.start()
        shell.logger.warning(
            "plaintext provisioning is on: anyone nearby can read the Wi-Fi password and the token",
            metadata: ["provisioning.port": "\(configuration.port)"])
        let end = try await withThrowingTaskGroup(of: ProvisioningServer.End?.self) { group in
            group.addTask {
                try await serve(socket, mode)
                return nil
            }
            group.addTask { await carryOut(steps, mode) }
            defer { group.cancelAll() }
            onReady(socket.channel.localAddress?.port ?? configuration.port)
            while let end = try await group.next() {
                if let end { return end }
            }
            throw CancellationError()
        }
        shell.logger.notice("plaintext provisioning ended", metadata: ["provisioning.end": "\(end)"])
        return end
    }

    private func carryOut(
        _ steps: AsyncStream<DeviceJoining.Step>, _ mode: PlaintextMode
    ) async -> ProvisioningServer.End? {
        await withDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            for await step in steps {
                if let end = shell.begin(step, of: mode, in: &group) { return end }
            }
            return nil
        }
    }

    // MARK: Datagrams

    private typealias Socket = NIOAsyncChannel<AddressedEnvelope<ByteBuffer>, AddressedEnvelope<ByteBuffer>>

    private func listen() async throws -> Socket {
        do {
            return try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2048))
                .bind(host: configuration.host, port: configuration.port) { channel in
                    channel.eventLoop.makeCompletedFuture { try Socket(wrappingChannelSynchronously: channel) }
                }
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw IoTError(
                .addressInUse, "plaintext provisioning: \(configuration.host):\(configuration.port) is in use",
                underlying: error)
        } catch {
            throw IoTError(
                .invalidConfiguration,
                "plaintext provisioning: \(configuration.host):\(configuration.port) cannot be served: \(error)",
                underlying: error)
        }
    }

    private func serve(_ socket: Socket, _ mode: PlaintextMode) async throws {
        try await socket.executeThenClose { inbound, _ in
            for try await datagram in inbound {
                guard let text = datagram.remoteAddress.ipAddress, let source = IPAddress(text.prefix { $0 != "%" }),
                    let reply = await mode.receive(Array(datagram.data.readableBytesView), from: source)
                else { continue }
                // If the answer is lost, the client repeats its request.
                socket.channel.sendDatagram(reply, to: datagram.remoteAddress)
            }
        }
    }
}
