import NIOCore

/// A way to the peer: out of our socket or through one of our relays, and where to.
///
/// Local candidates of one socket have one base, so they make no difference to a route (RFC 8445 §6.1.2.4).
struct ICERoute: Hashable, Sendable {
    /// The link to the TURN server; `nil` for the socket itself.
    var relay: Int?
    var remote: SocketAddress

    init(_ remote: SocketAddress, relay: Int? = nil) {
        self.remote = remote
        self.relay = relay
    }
}
