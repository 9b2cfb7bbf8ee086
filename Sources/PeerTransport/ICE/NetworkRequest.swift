public import NIOCore

/// What a connection needs from the network beside its UDP socket. Its owner does it and tells the outcome to
/// `PeerConnection.resolved`, `linkOpened`, `linkReceived` and `linkClosed`.
public enum NetworkRequest: Sendable, Equatable {
    /// The addresses of a host name. One in `.local` is asked for by multicast DNS (RFC 6762).
    case resolve(String)

    /// A way of its own to a TURN server: a UDP socket with a port of its own, a TCP or a TLS connection.
    case open(link: Int, RelayEndpoint)

    /// Bytes for the link; on UDP one datagram.
    case send(ByteBuffer, link: Int)

    /// What was sent before still goes out.
    case close(link: Int)
}

/// The server's end of a link.
public struct RelayEndpoint: Sendable, Hashable {
    public enum Transport: String, Sendable {
        case udp
        case tcp
        case tls
    }

    public var transport: Transport
    public var address: SocketAddress

    /// What the server's certificate must be made out to: the host of its URL.
    public var serverName: String

    public init(transport: Transport, address: SocketAddress, serverName: String) {
        self.transport = transport
        self.address = address
        self.serverName = serverName
    }
}
