import NIOCore
import NIOPosix

/// One link to a TURN server: a UDP socket with its own port, or a TCP or TLS connection. Confined to its event loop.
final class RelayLink {
    enum Event {
        case opened
        case received(ByteBuffer)
        /// The end, whether or not the link was open.
        case closed(reason: String)
    }

    private let eventLoop: any EventLoop
    private let onEvent: (Event) -> Void
    private var channel: (any Channel)?
    private var remote: SocketAddress?
    private var isDatagram = false
    private var tls: TLSClientSession?
    private var isOpen = false
    private var hasEnded = false

    /// Datagrams to peers that were dropped because the connection was too slow.
    private(set) var datagramsDropped: UInt64 = 0

    private static let connectTimeout = TimeAmount.seconds(5)
    /// Bytes that may wait to be written to a stream: a third of a second at 6 Mbit/s. Later media would be stale.
    private static let highWaterMark = 256 << 10

    init(eventLoop: any EventLoop, onEvent: @escaping (Event) -> Void) {
        self.eventLoop = eventLoop
        self.onEvent = onEvent
    }

    func open(_ endpoint: RelayEndpoint, authorities: String?) {
        remote = endpoint.address
        let link = NIOLoopBound(self, eventLoop: eventLoop)
        let connected: EventLoopFuture<any Channel>
        switch endpoint.transport {
        case .udp:
            isDatagram = true
            connected = DatagramBootstrap(group: eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(DatagramHandler(link.value))
                    }
                }
                .connect(to: endpoint.address)
        case .tcp, .tls:
            if endpoint.transport == .tls {
                guard let session = TLSClientSession(serverName: endpoint.serverName, authorities: authorities) else {
                    return eventLoop.assumeIsolated().execute { self.ended("TLS could not be initialized") }
                }
                tls = session
            }
            connected = ClientBootstrap(group: eventLoop)
                .connectTimeout(Self.connectTimeout)
                .channelOption(.socketOption(.tcp_nodelay), value: 1)
                .channelOption(
                    .writeBufferWaterMark, value: .init(low: Self.highWaterMark / 2, high: Self.highWaterMark)
                )
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(StreamHandler(link.value))
                    }
                }
                .connect(to: endpoint.address)
        }
        connected.assumeIsolated().whenComplete { result in
            switch result {
            case .failure: self.ended("the TURN server cannot be reached")
            case .success(let channel):
                guard !self.hasEnded else { return channel.close(promise: nil) }
                self.channel = channel
                if let tls = self.tls {
                    tls.start()
                    self.advance(tls)
                } else {
                    self.opened()
                }
            }
        }
    }

    /// Drops ChannelData while the write buffer is full, but never STUN messages.
    func send(_ bytes: ByteBuffer) {
        guard isOpen, let channel, let remote else { return }
        if isDatagram {
            return channel.writeAndFlush(AddressedEnvelope(remoteAddress: remote, data: bytes), promise: nil)
        }
        let isChannelData = (bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) ?? 0) & 0xF0 == 0x40
        guard channel.isWritable || !isChannelData else {
            datagramsDropped += 1
            return
        }
        if let tls {
            tls.send(bytes)
            advance(tls)
        } else {
            channel.writeAndFlush(bytes, promise: nil)
        }
    }

    func close() {
        hasEnded = true
        if let tls, isOpen {
            tls.close()
            while let record = tls.nextRecord() { channel?.write(record, promise: nil) }
            channel?.flush()
        }
        channel?.close(promise: nil)
        channel = nil
    }

    // MARK: Channel events

    private func opened() {
        guard !isOpen, !hasEnded else { return }
        isOpen = true
        onEvent(.opened)
    }

    private func received(_ bytes: ByteBuffer) {
        guard !hasEnded else { return }
        guard let tls else { return onEvent(.received(bytes)) }
        tls.receive(bytes)
        advance(tls)
    }

    private func advance(_ tls: TLSClientSession) {
        var hasWritten = false
        while let record = tls.nextRecord() {
            channel?.write(record, promise: nil)
            hasWritten = true
        }
        if hasWritten { channel?.flush() }
        if tls.isConnected { opened() }
        while !hasEnded, let plain = tls.nextPlaintext() { onEvent(.received(plain)) }
        if tls.hasEnded { ended(tls.refusal ?? Self.closedByServer) }
    }

    private static let closedByServer = "the TURN server closed the connection"

    private func ended(_ reason: String) {
        guard !hasEnded else { return }
        hasEnded = true
        channel?.close(promise: nil)
        channel = nil
        onEvent(.closed(reason: reason))
    }

    /// Reads from a datagram channel.
    private final class DatagramHandler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>

        private weak var link: RelayLink?

        init(_ link: RelayLink) { self.link = link }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            link?.received(unwrapInboundIn(data).data)
        }

        func channelInactive(context: ChannelHandlerContext) {
            link?.ended(RelayLink.closedByServer)
        }

        /// Ignored: an unavailable server causes ECONNREFUSED, and may come back.
        func errorCaught(context: ChannelHandlerContext, error: any Error) {}
    }

    private final class StreamHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private weak var link: RelayLink?

        init(_ link: RelayLink) { self.link = link }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            link?.received(unwrapInboundIn(data))
        }

        func channelInactive(context: ChannelHandlerContext) {
            link?.ended(RelayLink.closedByServer)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }
}
