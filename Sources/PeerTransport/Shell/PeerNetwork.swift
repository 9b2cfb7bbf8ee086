import Logging
import NIOCore

/// Performs a connection's network requests besides its UDP socket: name resolution and links to TURN servers.
///
/// Confined to the peer's event loop, like everything that it owns.
final class PeerNetwork {
    enum Outcome {
        case resolved(String, [SocketAddress])
        case linkOpened(Int)
        case linkReceived(Int, ByteBuffer)
        case linkClosed(Int, reason: String)
    }

    private let eventLoop: any EventLoop
    /// PEM of the authorities for TURN servers' certificates; `nil` for the system's authorities.
    private let authorities: String?
    private let deliver: (Outcome) -> Void
    private var links: [Int: RelayLink] = [:]
    private var multicast: MulticastResolver?
    private var isClosed = false

    init(eventLoop: any EventLoop, authorities: String?, deliver: @escaping (Outcome) -> Void) {
        self.eventLoop = eventLoop
        self.authorities = authorities
        self.deliver = deliver
    }

    func perform(_ request: NetworkRequest) {
        guard !isClosed else { return }
        switch request {
        case .resolve(let name): resolve(name)
        case .open(let id, let endpoint): open(id, endpoint)
        case .send(let bytes, let id): links[id]?.send(bytes)
        case .close(let id): links.removeValue(forKey: id)?.close()
        }
    }

    func close() {
        isClosed = true
        for link in links.values { link.close() }
        links = [:]
        multicast?.close()
        multicast = nil
    }

    private func report(_ outcome: Outcome) {
        guard !isClosed else { return }
        deliver(outcome)
    }

    private func open(_ id: Int, _ endpoint: RelayEndpoint) {
        let link = RelayLink(eventLoop: eventLoop) { event in
            // Ignores events of a link that is already closed.
            guard self.links[id] != nil else { return }
            switch event {
            case .opened: self.report(.linkOpened(id))
            case .received(let bytes): self.report(.linkReceived(id, bytes))
            case .closed(let reason):
                self.links[id] = nil
                self.report(.linkClosed(id, reason: reason))
            }
        }
        links[id] = link
        link.open(endpoint, authorities: authorities)
    }

    // MARK: Name resolution

    private func resolve(_ name: String) {
        if MDNSName.normalized(name) != nil {
            let resolver =
                multicast
                ?? MulticastResolver(eventLoop: eventLoop) { name, addresses in
                    self.report(.resolved(name, addresses))
                }
            multicast = resolver
            return resolver.resolve(name)
        }
        NameResolver.shared.addresses(of: name, on: eventLoop).assumeIsolated().whenSuccess { addresses in
            self.report(.resolved(name, addresses))
        }
    }
}
