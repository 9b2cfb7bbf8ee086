import IoTCore
import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// One UDP socket on one interface, for WS-Discovery's group. Confined to its event loop.
final class LANSocket {
    enum Purpose: Sendable {
        /// At its own port, where answers arrive.
        case ask
        /// In the group, at the group's address: it does not receive unicast datagrams.
        case listen
    }

    let interface: LANInterface
    let isIPv6: Bool
    private let purpose: Purpose
    private let eventLoop: any EventLoop
    private let deliver: ([UInt8], WSDResponder.Peer) -> Void
    private var channel: (any Channel)?
    private var isClosed = false
    /// Datagrams to send when the socket is open.
    private var waiting: [[UInt8]] = []

    static let port = 3702
    /// The largest payload of UDP over IPv4, in bytes (RFC 768, RFC 791).
    private static let largestDatagram = 65_507
    private static let maximumWaiting = 8

    /// - Parameter deliver: Called on the event loop.
    init(
        _ interface: LANInterface, isIPv6: Bool, _ purpose: Purpose, eventLoop: any EventLoop,
        deliver: @escaping ([UInt8], WSDResponder.Peer) -> Void
    ) {
        self.interface = interface
        self.isIPv6 = isIPv6
        self.purpose = purpose
        self.eventLoop = eventLoop
        self.deliver = deliver
    }

    /// Opens sockets on every interface.
    static func open(
        _ interfaces: [LANInterface], _ purpose: Purpose, eventLoop: any EventLoop,
        deliver: @escaping ([UInt8], WSDResponder.Peer) -> Void
    ) -> [LANSocket] {
        var sockets: [LANSocket] = []
        for interface in interfaces {
            for (address, isIPv6) in [(interface.ipv4, false), (interface.ipv6, true)] where address != nil {
                let socket = LANSocket(interface, isIPv6: isIPv6, purpose, eventLoop: eventLoop, deliver: deliver)
                socket.open()
                sockets.append(socket)
            }
        }
        return sockets
    }

    private var group: String { isIPv6 ? "ff02::c%\(interface.name)" : "239.255.255.250" }
    private var ownAddress: IPAddress? { isIPv6 ? interface.ipv6 : interface.ipv4 }

    private func open() {
        let place = purpose == .ask ? ownAddress?.description : group
        guard let place, let local = try? SocketAddress(ipAddress: place, port: purpose == .ask ? 0 : Self.port) else {
            return
        }
        let me = NIOLoopBound(self, eventLoop: eventLoop)
        DatagramBootstrap(group: eventLoop)
            .channelOption(.socketOption(.so_reuseaddr), value: 1)
            // NIO's default buffer has 2,048 bytes and truncates longer datagrams. Many cameras' answers are longer.
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.largestDatagram))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(me.value))
                }
            }
            .bind(to: local).assumeIsolated().whenComplete { result in self.opened(try? result.get()) }
    }

    private func opened(_ channel: (any Channel)?) {
        guard let channel else { return }
        guard !isClosed else { return channel.close(promise: nil) }
        self.channel = channel
        if let options = channel as? any SocketOptionProvider { configure(options) }
        for datagram in waiting { sendToGroup(datagram) }
        waiting = []
    }

    // MARK: Options, by their numbers in Linux's headers, whose structures another module's initializers do not fill

    /// IP_MULTICAST_ALL
    private static let multicastAll: CInt = 49

    /// `struct ip_mreqn`
    private struct IPv4Membership: Sendable {
        var group: UInt32
        var address: UInt32
        var index: UInt32
    }

    /// `struct ipv6_mreq`
    private struct IPv6Membership: Sendable {
        var group: (UInt32, UInt32, UInt32, UInt32)
        var index: UInt32
    }

    private func configure(_ options: any SocketOptionProvider) {
        let index = UInt32(truncatingIfNeeded: interface.index)
        func set(_ level: NIOBSDSocket.OptionLevel, _ name: CInt, _ value: some Sendable) {
            _ = options.unsafeSetSocketOption(level: level, name: NIOBSDSocket.Option(rawValue: name), value: value)
        }
        if isIPv6 {
            set(.ipv6, IPV6_MULTICAST_IF, index)
            guard purpose == .listen else { return }
            let group = (UInt32(0xFF02_0000).bigEndian, UInt32(0), UInt32(0), UInt32(0xC).bigEndian)
            set(.ipv6, IPV6_JOIN_GROUP, IPv6Membership(group: group, index: index))
        } else {
            let address = ownAddress.map { Self.word($0.bytes) } ?? 0
            set(.ip, IP_MULTICAST_IF, address)
            guard purpose == .listen else { return }
            // Otherwise the socket would also receive the group's datagrams from other interfaces (ip(7)).
            set(.ip, Self.multicastAll, CInt(0))
            let group = Self.word([239, 255, 255, 250])
            set(.ip, IP_ADD_MEMBERSHIP, IPv4Membership(group: group, address: address, index: index))
        }
    }

    /// Four bytes in network order, unchanged.
    private static func word(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { $0.count == 4 ? $0.loadUnaligned(as: UInt32.self) : 0 }
    }

    // MARK: Datagrams

    func sendToGroup(_ datagram: [UInt8]) {
        guard !isClosed else { return }
        guard channel != nil else {
            if waiting.count < Self.maximumWaiting { waiting.append(datagram) }
            return
        }
        guard let destination = try? SocketAddress(ipAddress: group, port: Self.port) else { return }
        send(datagram, to: destination)
    }

    func send(_ datagram: [UInt8], to peer: WSDResponder.Peer) {
        guard let destination = try? SocketAddress(ipAddress: peer.address.description, port: peer.port) else { return }
        send(datagram, to: destination)
    }

    private func send(_ datagram: [UInt8], to destination: SocketAddress) {
        channel?.sendDatagram(datagram, to: destination)
    }

    func close() {
        isClosed = true
        waiting = []
        channel?.close(promise: nil)
        channel = nil
    }

    private func received(_ envelope: AddressedEnvelope<ByteBuffer>) {
        guard let text = envelope.remoteAddress.ipAddress, let port = envelope.remoteAddress.port,
            let address = IPAddress(text.prefix { $0 != "%" })
        else { return }
        deliver(
            Array(envelope.data.readableBytesView),
            WSDResponder.Peer(address: address.zoned(interface.name), port: port, interface: interface.index))
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>

        private weak var socket: LANSocket?

        init(_ socket: LANSocket) { self.socket = socket }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            socket?.received(unwrapInboundIn(data))
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {}
    }
}
