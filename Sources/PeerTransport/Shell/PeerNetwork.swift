import Logging
import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

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

    private static let maximumAddresses = 8

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
        // The C library's resolver blocks, so it runs on a thread of its own; how long, its configuration says.
        let lookup = NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { Self.lookUp(name) }
        lookup.assumeIsolated().whenComplete { result in
            self.tell(.resolved(name, (try? result.get()) ?? []))
        }
    }

    /// In the order of RFC 6724, which the C library keeps.
    private static func lookUp(_ name: String) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee, addresses.count < maximumAddresses {
            if entry.ai_family == AF_INET, let bytes = entry.ai_addr {
                bytes.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    addresses.append(SocketAddress($0.pointee))
                }
            } else if entry.ai_family == AF_INET6, let bytes = entry.ai_addr {
                bytes.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    addresses.append(SocketAddress($0.pointee))
                }
            }
            next = entry.ai_next
        }
        return addresses
    }
}
