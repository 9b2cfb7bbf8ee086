/// Where the hub's own broker listens.
public enum BrokerEndpoint: Sendable, Hashable {
    /// An absolute path of at most 107 bytes.
    case unixSocket(String)

    /// A port on 127.0.0.1.
    case loopback(port: Int)
}
