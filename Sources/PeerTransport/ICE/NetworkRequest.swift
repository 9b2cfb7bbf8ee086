public import NIOCore

/// A network operation that a connection needs besides its UDP socket. Its owner performs it and reports the result
/// to `PeerConnection.resolved`, `linkOpened`, `linkReceived` and `linkClosed`.
public enum NetworkRequest: Sendable, Equatable {
    /// Resolves a host name. A `.local` name is resolved by multicast DNS (RFC 6762).
    case resolve(String)

    /// Opens a separate link to a TURN server: a UDP socket with its own port, or a TCP or TLS connection.
    case open(link: Int, RelayEndpoint)

    /// Sends bytes on the link: on UDP, one datagram.
    case send(ByteBuffer, link: Int)

    /// Closes the link after sending what is pending.
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

    /// The name that the server's certificate must have: the host of its URL.
    public var serverName: String

    public init(transport: Transport, address: SocketAddress, serverName: String) {
        self.transport = transport
        self.address = address
        self.serverName = serverName
    }
}
