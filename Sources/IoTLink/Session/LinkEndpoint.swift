/// Where the broker listens.
public enum LinkEndpoint: Sendable, Hashable, CustomStringConvertible {
    /// A Unix domain socket; at most 107 bytes of path.
    case unixSocket(path: String)
    /// TCP in the clear, for the loopback interface.
    case tcp(host: String, port: Int)

    public var description: String {
        switch self {
        case .unixSocket(let path): "unix:\(path)"
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }
}
