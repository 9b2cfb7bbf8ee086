import IoTCore

/// Where the broker listens.
public enum LinkEndpoint: Sendable, Hashable, CustomStringConvertible {
    /// A Unix domain socket; at most 107 bytes of path.
    case unixSocket(path: String)
    /// TCP in the clear, for the loopback interface.
    case tcp(host: String, port: Int)
    /// TLS 1.2 or newer. Trusted is the first certificate of this PEM file and what it signed, nothing else; there is
    /// no way back to a connection in the clear.
    case tls(host: String, port: Int, certificateAuthorityFile: String)

    public var description: String {
        switch self {
        case .unixSocket(let path): "unix:\(path)"
        case .tcp(let host, let port): HostPort(host: host, port: port).description
        case .tls(let host, let port, _): "tls:" + HostPort(host: host, port: port).description
        }
    }
}
