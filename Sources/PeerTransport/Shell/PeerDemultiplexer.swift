import IoTCore
import Logging
import NIOCore

/// Routes a socket's datagrams to its peers, and sends theirs. Confined to the socket's event loop.
///
/// A peer is identified by its address once it is validated there. Until then, its checks identify it by user name, and
/// its responses by transaction. When two peers validate one address, the newer one gets it, because a restarted peer
/// often reuses its port.
final class PeerDemultiplexer: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let logger: Logger
    private let eventLoop: any EventLoop
    /// Keyed by the bytes of the user name fragments, because anybody can send a fragment to look up.
    private var peersByUfrag: [[UInt8]: Peer] = [:]
    private var peersByAddress: [SocketAddress: Peer] = [:]
    private var counters = PeerSocketStatistics()
    private let sender: DatagramSender

    /// Shared by all peers of the socket.
    let pool = DatagramPool()
    private var context: ChannelHandlerContext?

    /// The channel's descriptor; valid only while the channel is active.
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

    /// The peer no longer uses this address.
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
        // Fetched once, because the cast that it needs takes a third as long as a send.
        descriptor = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable { $0 }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReading = true
        let envelope = unwrapInboundIn(data)
        let source = isIPv6 ? envelope.remoteAddress.unmapped : envelope.remoteAddress
        var rest = envelope.data
        // With UDP_GRO a read is a run of datagrams: all have this size, except that the last may be smaller.
        if let size = envelope.metadata?.segmentSize, size > 0 {
            while rest.readableBytes > size, let datagram = rest.readSlice(length: size) {
                receive(datagram, from: source)
            }
        }
        receive(rest, from: source)
    }

    private func receive(_ datagram: ByteBuffer, from source: SocketAddress) {
        counters.datagramsReceived += 1
        let known = peersByAddress[source]
        guard let peer = peer(for: datagram, known: known) else {
            counters.datagramsIgnored += 1
            return
        }
        peer.receive(datagram, from: source)
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

    /// - Parameter known: the peer that is validated at the datagram's source.
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

    /// Schedules one flush for all datagrams of this loop tick, from all peers.
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
        // The channel closes its socket and becomes inactive in one step on this loop, so the descriptor cannot refer
        // to another file.
        guard sender.queuedCount > 0, let descriptor, isActive else { return }
        let progress = sender.flush(through: descriptor)
        // NIO reports writability only for sockets that it writes to itself. At 1 Gbit/s, a wait of 1 ms is a hundred
        // datagrams, and the queue holds many more.
        if case .blocked = progress { flushSoon(after: .milliseconds(1)) }
    }
}
