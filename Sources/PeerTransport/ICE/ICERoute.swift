import NIOCore

/// A path to the peer: our socket or one of our relays, and the remote address.
///
/// All local candidates of the socket have one base, so they do not distinguish routes (RFC 8445 §6.1.2.4).
struct ICERoute: Hashable, Sendable {
    /// The link to the TURN server; `nil` for the socket itself.
    var relay: Int?
    var remote: SocketAddress

    init(_ remote: SocketAddress, relay: Int? = nil) {
        self.remote = remote
        self.relay = relay
    }
}
