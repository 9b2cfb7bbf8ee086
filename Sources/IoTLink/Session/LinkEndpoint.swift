import IoTCore

/// The address of the broker.
public enum LinkEndpoint: Sendable, Hashable, CustomStringConvertible {
    /// A Unix domain socket; at most 107 bytes of path.
    case unixSocket(path: String)
    /// TCP without TLS, for the loopback interface.
    case tcp(host: String, port: Int)
    /// TLS 1.2 or newer. Only the first certificate of this PEM file, and certificates that it signed, are trusted.
    /// There is no fallback to a connection without TLS.
    case tls(host: String, port: Int, certificateAuthorityFile: String)

    public var description: String {
        switch self {
        case .unixSocket(let path): "unix:\(path)"
        case .tcp(let host, let port): HostPort(host: host, port: port).description
        case .tls(let host, let port, _): "tls:" + HostPort(host: host, port: port).description
        }
    }
}
