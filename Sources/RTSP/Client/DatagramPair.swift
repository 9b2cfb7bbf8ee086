import NIOCore
import NIOPosix

/// Two UDP ports with consecutive numbers, an even one for RTP and the next for RTCP (RFC 3550 §11). Only the camera's
/// datagrams are read.
final class DatagramPair: Sendable {
    typealias Receiver = NIOLoopBound<(ByteBuffer, Bool) -> Void>

    private let media: any Channel
    private let control: any Channel
    let port: UInt16

    private static let attempts = 16
    /// Room for the burst of a key frame.
    private static let receiveBufferSize: ChannelOptions.Types.SocketOption.Value = 4 << 20
    /// Larger than a datagram on Ethernet.
    private static let datagramSize = 2_048

    /// The kernel chose the last port.
    private struct NoNextPort: Error {}

    private init(_ media: any Channel, _ control: any Channel, port: UInt16) {
        self.media = media
        self.control = control
        self.port = port
    }

    /// - Parameters:
    ///   - local: The local address of the RTSP connection. The ports are opened on its host.
    ///   - peer: The camera's address.
    ///   - firstPort: The port of the first attempt; 0 lets the kernel choose.
    static func open(
        near local: SocketAddress, from peer: SocketAddress, eventLoop: any EventLoop, onDatagram: Receiver,
        firstPort: Int = 0, attempt: Int = 1
    ) -> EventLoopFuture<DatagramPair> {
        bind(local, port: firstPort, peer, eventLoop, isControl: false, onDatagram).flatMap { first in
            let port = first.localAddress?.port ?? 0
            guard port < UInt16.max else {
                return first.close().flatMapThrowing { throw NoNextPort() }
            }
            // If the port is odd, the next two ports are tried.
            let isEven = port.isMultiple(of: 2)
            let media =
                isEven
                ? eventLoop.makeSucceededFuture(first)
                : first.close().flatMap { bind(local, port: port + 1, peer, eventLoop, isControl: false, onDatagram) }
            return media.flatMap { media in
                let even = isEven ? port : port + 1
                return bind(local, port: even + 1, peer, eventLoop, isControl: true, onDatagram)
                    .map { DatagramPair(media, $0, port: UInt16(truncatingIfNeeded: even)) }
                    .flatMapError { error in
                        media.close(promise: nil)
                        return eventLoop.makeFailedFuture(error)
                    }
            }
        }.flatMapError { error in
            guard attempt < attempts else { return eventLoop.makeFailedFuture(error) }
            return open(
                near: local, from: peer, eventLoop: eventLoop, onDatagram: onDatagram, attempt: attempt + 1)
        }
    }

    private static func bind(
        _ local: SocketAddress, port: Int, _ peer: SocketAddress, _ eventLoop: any EventLoop, isControl: Bool,
        _ onDatagram: Receiver
    ) -> EventLoopFuture<any Channel> {
        var address = local
        address.port = port
        return DatagramBootstrap(group: eventLoop)
            .channelOption(.socketOption(.so_rcvbuf), value: receiveBufferSize)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: datagramSize * 16))
            .channelOption(.datagramVectorReadMessageCount, value: 16)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Handler(peer: peer.ipAddress, isControl: isControl, onDatagram.value))
                }
            }
            .bind(to: address)
    }

    func setReading(_ isReading: Bool) {
        for channel in [media, control] {
            channel.setOption(.autoRead, value: isReading).whenFailure { _ in }
        }
    }

    func send(_ bytes: ByteBuffer, isControl: Bool, to peer: SocketAddress?, port: UInt16) {
        guard var address = peer, port > 0 else { return }
        address.port = Int(port)
        let channel = isControl ? control : media
        channel.writeAndFlush(AddressedEnvelope(remoteAddress: address, data: bytes), promise: nil)
    }

    func close() {
        media.close(promise: nil)
        control.close(promise: nil)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>

        private let peer: String?
        private let isControl: Bool
        private let onDatagram: (ByteBuffer, Bool) -> Void

        init(peer: String?, isControl: Bool, _ onDatagram: @escaping (ByteBuffer, Bool) -> Void) {
            self.peer = peer
            self.isControl = isControl
            self.onDatagram = onDatagram
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let envelope = unwrapInboundIn(data)
            guard envelope.remoteAddress.ipAddress == peer else { return }
            onDatagram(envelope.data, isControl)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            // An ICMP error for a sent datagram is reported here. The camera may open its port later.
        }
    }
}
