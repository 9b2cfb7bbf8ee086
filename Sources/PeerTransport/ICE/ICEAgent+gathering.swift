import NIOCore

// Server-reflexive and relayed candidates, and traffic through relays.
extension ICEAgent {
    var isGathered: Bool { hasBegunGathering && gatherer.isFinished }

    /// Queries the servers. Before a restart, a second call does nothing.
    mutating func gather(at now: NIODeadline) {
        guard !hasBegunGathering, state != .failed else { return }
        hasBegunGathering = true
        guard !configuration.servers.isEmpty, !configuration.isLite else { return }
        gatherer.start(
            hasIPv4: hosts.contains { $0.address.isIPv4 }, hasIPv6: hosts.contains { !$0.address.isIPv4 }, at: now)
        drainGatherer(at: now)
    }

    mutating func linkOpened(_ link: Int, at now: NIODeadline) {
        gatherer.linkOpened(link, at: now)
        drainGatherer(at: now)
    }

    mutating func linkReceived(_ link: Int, _ bytes: ByteBuffer, at now: NIODeadline) {
        gatherer.linkReceived(link, bytes, at: now)
        drainGatherer(at: now)
    }

    mutating func linkClosed(_ link: Int, reason: String, at now: NIODeadline) {
        gatherer.linkClosed(link, reason: reason, at: now)
        drainGatherer(at: now)
    }

    /// Sends data or a check on a route.
    mutating func transmit(_ datagram: ByteBuffer, on route: ICERoute, at now: NIODeadline) {
        guard let link = route.relay else { return outputs.append(.transmit(datagram, to: route.remote)) }
        gatherer.send(datagram, to: route.remote, link: link, at: now)
        drainGatherer(at: now)
    }

    mutating func drainGatherer(at now: NIODeadline) {
        while let output = gatherer.poll() {
            switch output {
            case .transmit(let datagram, let server): outputs.append(.transmit(datagram, to: server))
            case .request(let request): outputs.append(.request(request))
            case .mapped(let address, let server, let url): addReflexive(address, server: server, url: url)
            case .relayed(let relay): addRelay(relay, at: now)
            case .received(let payload, let peer, let link):
                receiveRelayed(payload, ICERoute(peer, relay: link), at: now)
            case .refused(let peer, let link):
                if let index = pairs.firstIndex(where: { $0.route == ICERoute(peer, relay: link) }),
                    pairs[index].state != .succeeded
                {
                    pairFailed(at: index, now)
                }
            case .lost(let link): lose(link, at: now)
            case .failed(let url, _, let failure): outputs.append(.event(.candidateError(url: url, failure)))
            case .finished:
                outputs.append(.event(.gathered))
                considerNomination(at: now)
            }
        }
    }

    private mutating func receiveRelayed(_ payload: ByteBuffer, _ route: ICERoute, at now: NIODeadline) {
        guard let first = payload.getInteger(at: payload.readerIndex, as: UInt8.self) else { return }
        if first <= 3 {
            _ = receive(payload, on: route, at: now)
        } else if validated.contains(route) {
            outputs.append(.event(.received(payload, route)))
        }
    }

    /// Adds one of our addresses as a server sees it. Without a NAT it is not a new address.
    private mutating func addReflexive(_ address: SocketAddress, server: Int, url: String) {
        guard let index = hosts.firstIndex(where: { $0.address.isIPv4 == address.isIPv4 }),
            !hosts.contains(where: { $0.address == address })
        else { return }
        var candidate = ICECandidate(
            foundation: "s\(server)\(address.isIPv4 ? 4 : 6)",
            priority: ICECandidate.priority(.serverReflexive, localPreference: UInt16(65535 - index)),
            address: address, kind: .serverReflexive)
        candidate.related = hosts[index].address
        candidate.url = url
        add(candidate)
    }

    private mutating func addRelay(_ relay: ICEGatherer.Relay, at now: NIODeadline) {
        // UDP before TCP before TLS, then in the order of the servers.
        let rank: Int = relay.transport == .udp ? 0 : relay.transport == .tcp ? 1 : 2
        var candidates: [ICECandidate] = []
        for address in relay.addresses {
            var candidate = ICECandidate(
                foundation: "r\(relay.server)\(address.isIPv4 ? 4 : 6)\(relay.transport.rawValue)",
                priority: ICECandidate.priority(
                    .relayed, localPreference: UInt16(clamping: 65535 - rank * 16384 - relay.server * 64)),
                address: address, kind: .relayed)
            candidate.related = relay.mapped
            candidate.url = relay.url
            candidate.relayTransport = relay.transport
            candidates.append(candidate)
        }
        // Too late to be used: a pair is nominated.
        guard state != .completed, state != .failed else { return gatherer.close(link: relay.link) }
        relays.append(Relay(link: relay.link, candidates: candidates))
        for candidate in candidates { add(candidate) }
        for candidate in remoteCandidates { addPair(to: candidate, relay: relay.link) }
        runChecks(at: now)
    }

    private mutating func add(_ candidate: ICECandidate) {
        guard localCandidates.count < Self.maximumLocalCandidates,
            !localCandidates.contains(where: { $0.address == candidate.address && $0.kind == candidate.kind })
        else { return }
        localCandidates.append(candidate)
        outputs.append(.event(.candidate(candidate)))
    }

    private mutating func lose(_ link: Int, at now: NIODeadline) {
        relays.removeAll { $0.link == link }
        for index in pairs.indices where pairs[index].relay == link { pairFailed(at: index, now) }
        // The owner may restart ICE before consent expires.
        if selected?.relay == link { outputs.append(.event(.disconnected)) }
    }

    /// Releases every relay that the selected pair does not use (RFC 8445 §8.3.1).
    mutating func releaseUnused(at now: NIODeadline) {
        releaseAt = nil
        for id in gatherer.links.keys.sorted() where id != selected?.relay { gatherer.close(link: id) }
        relays.removeAll { $0.link != selected?.relay }
        pairs.removeAll { $0.relay != nil && $0.relay != selected?.relay }
        if let selected, let link = selected.relay { gatherer.retain(only: [selected.remote], link: link) }
        drainGatherer(at: now)
    }
}
