import IoTCore
import Logging
import NIOCore

/// Gives each datagram of a socket to its peer, and takes theirs to send. Confined to the socket's event loop.
///
/// A peer is known by its address once it has shown there that it knows its password; until then by the user name
/// of its checks, and by the transaction of its answers. When two peers show themselves at one address, the newer
/// one has it: a restarted peer often comes back on its old port.
final class PeerDemultiplexer: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let logger: Logger
    private let eventLoop: any EventLoop
    /// By the bytes of their fragments: what is looked up comes from anybody.
    private var peersByUfrag: [[UInt8]: Peer] = [:]
    private var peersByAddress: [SocketAddress: Peer] = [:]
    private var counters = PeerSocketStatistics()
    private let sender: DatagramSender

    /// Of all the socket's peers.
    let pool = DatagramPool()
    private var context: ChannelHandlerContext?

    /// The channel's own: only to be used while the channel is active.
    private var descriptor: NIOBSDSocket.Handle?
    private var isIPv6 = false
    private var isFlushScheduled = false
    private var isReading = false

    private static let flushThreshold = 256

    init(eventLoop: any EventLoop, logger: Logger) {
        self.eventLoop = eventLoop
        self.logger = logger
        sender = DatagramSender(pool: pool)
    }

    var statistics: PeerSocketStatistics {
        var all = counters
        all.datagramsSent = sender.datagramsSent
        all.datagramsDropped = sender.datagramsDropped
        all.sendErrors = sender.sendErrors
        return all
    }

    var isActive: Bool { context?.channel.isActive == true }

    func add(_ peer: Peer) {
        for ufrag in peer.iceUfrags { peersByUfrag[Array(ufrag.utf8)] = peer }
    }

    func remove(_ peer: Peer) {
        for ufrag in peer.iceUfrags { remove(peer, iceUfrag: ufrag) }
        for address in peer.addresses where peersByAddress[address] === peer {
            peersByAddress[address] = nil
        }
    }

    /// The peer has moved on from this address.
    func remove(_ peer: Peer, address: SocketAddress) {
        if peersByAddress[address] === peer { peersByAddress[address] = nil }
    }

    func remove(_ peer: Peer, iceUfrag: String) {
        let key = Array(iceUfrag.utf8)
        if peersByUfrag[key] === peer { peersByUfrag[key] = nil }
    }

    func closeAll() {
        for peer in Array(peersByUfrag.values) { peer.close() }
        flush()
    }

    // MARK: Receiving

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func channelActive(context: ChannelHandlerContext) {
        isIPv6 = context.channel.localAddress?.isIPv4 == false
        // Asked for once: the cast behind it costs a third of what it takes to send.
        descriptor = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable { $0 }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReading = true
        let envelope = unwrapInboundIn(data)
        let source = isIPv6 ? envelope.remoteAddress.unmapped : envelope.remoteAddress
        counters.datagramsReceived += 1
        let known = peersByAddress[source]
        guard let peer = peer(for: envelope.data, known: known) else {
            counters.datagramsIgnored += 1
            return
        }
        peer.receive(envelope.data, from: source)
        if known !== peer, peer.claim(source) { peersByAddress[source] = peer }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        flush()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.debug("A datagram socket reported an error", metadata: ["error": "\(error)"])
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        descriptor = nil
        for peer in Array(peersByUfrag.values) { peer.socketClosed() }
    }

    /// `known`: who has shown itself at the datagram's source.
    private func peer(for datagram: ByteBuffer, known: Peer?) -> Peer? {
        guard let kind = DatagramKind(datagram) else { return nil }
        guard kind == .stun else { return known }
        guard let message = try? STUNMessage(parsing: datagram) else { return nil }
        switch message.messageClass {
        case .request:
            guard let fragment = message.username?.bytes.prefix(while: { $0 != UInt8(ascii: ":") }),
                fragment.count <= ICECredentials.maximumByteCount
            else { return nil }
            return peersByUfrag[Array(fragment)]
        case .indication:
            return known
        case .successResponse, .errorResponse:
            if let known, known.awaitsResponse(to: message.transactionID) { return known }
            return peersByUfrag.values.first { $0.awaitsResponse(to: message.transactionID) }
        }
    }

    // MARK: Sending

    func write(_ datagram: ByteBuffer, to address: SocketAddress) {
        sender.append(datagram, to: isIPv6 ? address.mapped : address)
        if sender.queuedCount >= Self.flushThreshold {
            flush()
        } else if !isReading {
            flushSoon(after: nil)
        }
    }

    /// Once for all that is written in this turn of the loop, whichever peers it is from.
    private func flushSoon(after delay: TimeAmount?) {
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        let loop = eventLoop.assumeIsolated()
        if let delay {
            loop.scheduleTask(in: delay) { self.runScheduledFlush() }
        } else {
            loop.execute { self.runScheduledFlush() }
        }
    }

    private func runScheduledFlush() {
        isFlushScheduled = false
        flush()
    }

    private func flush() {
        // The channel closes its socket and turns inactive in one go on this loop, so that the number cannot have come
        // to mean another file.
        guard sender.queuedCount > 0, let descriptor, isActive else { return }
        let progress = sender.flush(through: descriptor)
        // NIO has no word for a full send buffer of a socket that it does not write to itself; at the rate of a
        // gigabit a millisecond's wait is a hundred datagrams, and the queue takes many more.
        if case .blocked = progress { flushSoon(after: .milliseconds(1)) }
    }
}
