import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Resolves `.local` names by multicast DNS (RFC 6762) over IPv4, on every interface that may lead to a peer.
///
/// The socket exists only while a query is pending. It shares port 5353 with other programs, because some responders
/// answer only by multicast. Confined to its event loop. The connection bounds its memory, with at most 16 names.
final class MulticastResolver {
    private let eventLoop: any EventLoop
    private let deliver: (String, [SocketAddress]) -> Void
    private var pending: [String: [SocketAddress]] = [:]
    private var channel: (any Channel)?
    private var isOpening = false
    private var isClosed = false
    private var interfaces: [UInt32] = []
    private var timers: [Scheduled<Void>] = []

    private static let group = "224.0.0.251"
    /// Three queries. The one-second interval of RFC 6762 §5.2 would delay a viewer's start too much.
    private static let questions: [TimeAmount] = [.zero, .milliseconds(250), .milliseconds(750)]
    private static let timeout = TimeAmount.seconds(3)
    /// The wait after the first address for one of the other family.
    private static let grace = TimeAmount.milliseconds(20)

    init(eventLoop: any EventLoop, deliver: @escaping (String, [SocketAddress]) -> Void) {
        self.eventLoop = eventLoop
        self.deliver = deliver
    }

    func resolve(_ name: String) {
        guard !isClosed, pending[name] == nil else { return }
        pending[name] = []
        open(port: MDNSMessage.port)
        for delay in Self.questions {
            schedule(after: delay) { if self.pending[name]?.isEmpty == true { self.ask(name) } }
        }
        schedule(after: Self.timeout) { self.finish(name) }
    }

    func close() {
        isClosed = true
        for timer in timers { timer.cancel() }
        timers = []
        pending = [:]
        channel?.close(promise: nil)
        channel = nil
    }

    private func schedule(after delay: TimeAmount, _ body: @escaping () -> Void) {
        timers.append(eventLoop.assumeIsolated().scheduleTask(in: delay) { body() })
    }

    private func finish(_ name: String) {
        guard let addresses = pending.removeValue(forKey: name) else { return }
        deliver(name, addresses)
        guard pending.isEmpty else { return }
        for timer in timers { timer.cancel() }
        timers = []
        channel?.close(promise: nil)
        channel = nil
    }

    private func received(_ datagram: ByteBuffer) {
        for (name, address) in MDNSMessage.addresses(in: datagram) {
            guard var known = pending[name], known.count < 4, !known.contains(address) else { continue }
            known.append(address)
            pending[name] = known
            if known.count == 1 { schedule(after: Self.grace) { self.finish(name) } }
        }
    }

    // MARK: Socket

    private func open(port: Int) {
        guard channel == nil, !isOpening, let local = try? SocketAddress(ipAddress: "0.0.0.0", port: port)
        else { return }
        isOpening = true
        let resolver = NIOLoopBound(self, eventLoop: eventLoop)
        DatagramBootstrap(group: eventLoop)
            .channelOption(.socketOption(.so_reuseaddr), value: 1)
            .channelOption(.socketOption(NIOBSDSocket.Option(rawValue: SO_REUSEPORT)), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(resolver.value))
                }
            }
            .bind(to: local).assumeIsolated().whenComplete { result in self.opened(try? result.get(), port: port) }
    }

    private func opened(_ channel: (any Channel)?, port: Int) {
        isOpening = false
        guard let channel else {
            // Another program holds the port exclusively. Responders also reply to other ports (RFC 6762 §6.7).
            if port != 0 { return open(port: 0) }
            for name in pending.keys { finish(name) }
            return
        }
        guard !isClosed, !pending.isEmpty else { return channel.close(promise: nil) }
        self.channel = channel
        interfaces = []
        for device in HostAddresses.devices() where device.multicastSupported {
            guard let address = device.address, address.isIPv4,
                let group = try? SocketAddress(ipAddress: Self.group, port: 0)
            else { continue }
            // Already in network order.
            interfaces.append(address.packedIPBytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) })
            (channel as? any MulticastChannel)?.joinGroup(group, device: device, promise: nil)
        }
        for (name, known) in pending where known.isEmpty { ask(name) }
    }

    /// Sends one query through each interface.
    private func ask(_ name: String) {
        guard let channel, let destination = try? SocketAddress(ipAddress: Self.group, port: MDNSMessage.port),
            let query = MDNSMessage.query(name)
        else { return }
        let question = AddressedEnvelope(remoteAddress: destination, data: query)
        for interface in interfaces {
            // Completes at once, because this runs on the channel's loop.
            let isChosen = (channel as? any SocketOptionProvider)?.unsafeSetSocketOption(
                level: .ip, name: .ip_multicast_if, value: interface)
            isChosen?.assumeIsolated().whenSuccess { channel.writeAndFlush(question, promise: nil) }
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>

        private weak var resolver: MulticastResolver?

        init(_ resolver: MulticastResolver) { self.resolver = resolver }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            resolver?.received(unwrapInboundIn(data).data)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {}
    }
}
