import IoTCore
import NIOCore

/// Bounds of the HTTP server.
struct APILimits: Sendable {
    /// From a request's first line to its answer; requests that name a time of their own excepted.
    var requestTimeout = Duration.seconds(60)
    /// Between two bytes of a request; from one response of a connection to the next request's head.
    var idleTimeout: TimeAmount = .seconds(60)
    /// From a connection's beginning to its first request's head, the TLS handshake included.
    var firstRequestTimeout: TimeAmount = .seconds(10)
    /// How long a client may take nothing of a response.
    var readTimeout: TimeAmount = .seconds(60)
    /// Open connections of one TCP listener, and of one address (a /64 of IPv6); see `ConnectionTable` for one more.
    var connections = QuotaBound(total: 512, each: 256)
    /// All of a request's header fields together, and one of them, in bytes.
    var headerListSize = 32 * 1024
    var headerFieldSize = 16 * 1024
    var headerFieldCount = 100
    /// How long open bodies may take to end in order when the daemon stops.
    var stopTimeout = Duration.seconds(3)

    init() {}

    /// At a Unix socket all have one address.
    func connections(of listener: APIListener) -> QuotaBound {
        listener.isUnixSocket ? QuotaBound(total: connections.total, each: connections.total) : connections
    }
}
