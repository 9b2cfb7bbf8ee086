import Logging
import NIOCore

/// Does what a connection asks of the network beside its UDP socket: names and links to TURN servers.
///
/// Confined to the peer's event loop, which everything in here lives on, too.
final class PeerNetwork {
    enum Outcome {
        case resolved(String, [SocketAddress])
        case linkOpened(Int)
        case linkReceived(Int, ByteBuffer)
        case linkClosed(Int, reason: String)
    }

    private let eventLoop: any EventLoop
    /// PEM of whom TURN servers' certificates must come from; `nil` for the system's authorities.
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

    private func tell(_ outcome: Outcome) {
        guard !isClosed else { return }
        deliver(outcome)
    }

    private func open(_ id: Int, _ endpoint: RelayEndpoint) {
        let link = RelayLink(eventLoop: eventLoop) { event in
            // What a link that was given up has to say is of no interest.
            guard self.links[id] != nil else { return }
            switch event {
            case .opened: self.tell(.linkOpened(id))
            case .received(let bytes): self.tell(.linkReceived(id, bytes))
            case .closed(let reason):
                self.links[id] = nil
                self.tell(.linkClosed(id, reason: reason))
            }
        }
        links[id] = link
        link.open(endpoint, authorities: authorities)
    }

    // MARK: Names

    private func resolve(_ name: String) {
        if MDNSName.normalized(name) != nil {
            let resolver =
                multicast
                ?? MulticastResolver(eventLoop: eventLoop) { name, addresses in
                    self.tell(.resolved(name, addresses))
                }
            multicast = resolver
            return resolver.resolve(name)
        }
        NameResolver.shared.addresses(of: name, on: eventLoop).assumeIsolated().whenSuccess { addresses in
            self.tell(.resolved(name, addresses))
        }
    }
}
