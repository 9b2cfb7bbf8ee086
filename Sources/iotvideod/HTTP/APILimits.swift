import NIOCore

/// Bounds of the HTTP server.
struct APILimits: Sendable {
    /// From a request's first line to its answer; requests that name a time of their own excepted.
    var requestTimeout = Duration.seconds(60)
    /// Between two bytes of a request, or two requests of a connection.
    var idleTimeout: TimeAmount = .seconds(60)
    /// Open connections of one listener; one more waits in the kernel's queue.
    var connections = 512
    /// All of a request's header fields together, and one of them, in bytes.
    var headerListSize = 32 * 1024
    var headerFieldSize = 16 * 1024
    var headerFieldCount = 100
    /// How long open bodies may take to end in order when the daemon stops.
    var stopTimeout = Duration.seconds(3)

    init() {}
}
