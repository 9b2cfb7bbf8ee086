import IoTCore
import NIOCore

/// Limits of the HTTP server.
struct APILimits: Sendable {
    /// From the first line of a request to its response. Requests with a time limit of their own are exempt.
    var requestTimeout = Duration.seconds(60)
    /// Between two bytes of a request, and from one response of a connection to the next request's head.
    var idleTimeout: TimeAmount = .seconds(60)
    /// From the start of a connection to its first request's head, including the TLS handshake.
    var firstRequestTimeout: TimeAmount = .seconds(10)
    /// How long a client may accept no data of a response.
    var readTimeout: TimeAmount = .seconds(60)
    /// Open connections per TCP listener and per address (a /64 for IPv6). `ConnectionTable` decides about further
    /// ones.
    var connections = QuotaBound(total: 512, each: 256)
    /// The size of all header fields of a request, and of one field, in bytes.
    var headerListSize = 32 * 1024
    var headerFieldSize = 16 * 1024
    var headerFieldCount = 100
    /// How long open bodies may take to finish when the daemon stops.
    var stopTimeout = Duration.seconds(3)

    init() {}

    /// On the Unix socket all connections share one address.
    func connections(of listener: APIListener) -> QuotaBound {
        listener.isUnixSocket ? QuotaBound(total: connections.total, each: connections.total) : connections
    }
}
