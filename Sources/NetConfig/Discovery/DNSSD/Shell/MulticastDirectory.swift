import IoTCore
import Logging
import NIOCore
import NIOPosix

/// Our own multicast DNS, used without a system daemon: `MulticastDNS` with a socket for each link.
/// Confined to its event loop.
final class MulticastDirectory: ServiceDirectory {
    private struct OpenLink {
        var description: LinkDescription
        var descriptor: CInt
        var channel: any Channel
    }

    private let eventLoop: any EventLoop
    private let logger: Logger
    private let report: (DirectoryReport) -> Void
    private var core: MulticastDNS
    private var open: [ServiceLink: OpenLink] = [:]
    private var opening: Set<ServiceLink> = []
    private var refresh: Scheduled<Void>?
    private var timer: Scheduled<Void>?
    private var isClosed = false
    /// Links that could not be opened, so that each is logged once.
    private var failed: Set<String> = []

    /// The interval between checks of the interfaces.
    private static let refreshInterval = TimeAmount.seconds(5)

    init(eventLoop: any EventLoop, logger: Logger, report: @escaping (DirectoryReport) -> Void) {
        self.eventLoop = eventLoop
        self.logger = logger
        self.report = report
        core = MulticastDNS(hostLabel: "iotvideod-" + String(UInt32.random(in: 0x1000_0000 ... .max), radix: 16))
    }

    /// Called after the first `apply`, so that the first packets contain all questions.
    func start() { refreshLinks() }

    func apply(_ wanted: WantedServices) {
        core.apply(wanted, at: .now())
        pump()
    }

    func close() {
        guard !isClosed else { return }
        core.close()
        // Sends the goodbyes.
        pump()
        isClosed = true
        timer?.cancel()
        refresh?.cancel()
        for link in open.values { link.channel.close(promise: nil) }
        open = [:]
    }

    // MARK: Links

    private func refreshLinks() {
        guard !isClosed else { return }
        let links = MulticastInterfaces.links()
        for id in open.keys where !links.contains(where: { $0.id == id }) { open[id]?.channel.close(promise: nil) }
        for link in links {
            if let known = open[link.id] {
                guard known.description != link else { continue }
                open[link.id]?.description = link
                core.set(link, at: .now())
            } else {
                openLink(link)
            }
        }
        pump()
        refresh = eventLoop.assumeIsolated().scheduleTask(in: Self.refreshInterval) { self.refreshLinks() }
    }

    private func openLink(_ link: LinkDescription) {
        guard opening.insert(link.id).inserted else { return }
        let descriptor: CInt
        do {
            descriptor = try MulticastSocket.open(link)
        } catch {
            opening.remove(link.id)
            if failed.insert(link.name).inserted {
                logger.warning(
                    "no multicast DNS on this interface",
                    metadata: ["interface": "\(link.name)", "error": "\(error)"])
            }
            return
        }
        failed.remove(link.name)
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        DatagramBootstrap(group: eventLoop)
            // One byte more than the maximum, so that a longer message is detected.
            .channelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: DNSMessage.maximumSize + 1)
            )
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(bound.value, link: link.id))
                }
            }
            .withBoundSocket(descriptor).assumeIsolated().whenComplete { result in
                self.opened(link, descriptor, try? result.get())
            }
    }

    private func opened(_ link: LinkDescription, _ descriptor: CInt, _ channel: (any Channel)?) {
        opening.remove(link.id)
        guard let channel else { return }
        guard !isClosed else { return channel.close(promise: nil) }
        open[link.id] = OpenLink(description: link, descriptor: descriptor, channel: channel)
        channel.closeFuture.assumeIsolated().whenComplete { _ in self.closed(link.id) }
        core.set(link, at: .now())
        pump()
    }

    /// The interface or its socket failed: the next check of the interfaces opens it again.
    private func closed(_ link: ServiceLink) {
        guard !isClosed, open.removeValue(forKey: link) != nil else { return }
        core.remove(link)
        report(.linkIsGone(link))
    }

    // MARK: Packets and time

    private func received(_ datagram: ByteBuffer, from source: SocketAddress, on link: ServiceLink) {
        guard !isClosed else { return }
        core.receive(Array(datagram.readableBytesView), from: source, on: link, at: .now())
        pump()
    }

    private func pump() {
        while let output = core.poll() {
            switch output {
            case .transmit(let transmission, let link): send(transmission, on: link)
            case .service(let event, let link): report(.service(event, on: link))
            case .named(let id, let name): report(.named(id: id, name))
            }
        }
        timer?.cancel()
        timer = nil
        guard !isClosed, let deadline = core.deadline else { return }
        timer = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.core.handleTimeout(at: .now())
            self.pump()
        }
    }

    /// Uses the descriptor directly: NIO closes a channel on errors that a missing route or a firewall causes.
    private func send(_ transmission: Transmission, on link: ServiceLink) {
        guard let open = open[link], open.channel.isActive, let group = try? MulticastSocket.group(link) else { return }
        let destination: SocketAddress =
            switch transmission.destination {
            case .group: group
            case .unicast(let address): address
            }
        MulticastSocket.send(transmission.bytes, to: destination, through: open.descriptor)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>

        private weak var directory: MulticastDirectory?
        private let link: ServiceLink

        init(_ directory: MulticastDirectory, link: ServiceLink) {
            self.directory = directory
            self.link = link
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let envelope = unwrapInboundIn(data)
            directory?.received(envelope.data, from: envelope.remoteAddress, on: link)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
