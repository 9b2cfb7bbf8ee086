import NIOCore

// The peer's candidates, and the pairs that are formed with them (RFC 8445 §6.1.2, RFC 8838 §8 to §11).
extension ICEAgent {
    /// May come before or after `start`, and while checks run.
    mutating func addRemoteCandidate(_ candidate: ICECandidate, at now: NIODeadline) {
        guard state == .idle || state == .checking else { return }
        // One of before or after a restart that has overtaken, or was overtaken by, the description.
        if let ufrag = candidate.ufrag, let remote = current.remote, ufrag != remote.ufrag { return }
        if candidate.name != nil { return resolve(candidate) }
        guard candidate.address.isReachableUnicast, remoteCandidates.count < configuration.maximumRemoteCandidates
        else {
            counters.candidatesIgnored += 1
            return
        }
        // RFC 8838 §12: a duplicate changes nothing.
        guard !remoteCandidates.contains(where: { $0.address == candidate.address }) else { return }
        remoteCandidates.append(candidate)
        for index in pairs.indices
        where pairs[index].remote.address == candidate.address && pairs[index].remote.kind == .peerReflexive {
            // A check had discovered it before its signalling came.
            pairs[index].remote = candidate
        }
        if configuration.transportPolicy == .all { addPair(to: candidate, relay: nil) }
        for relay in relays { addPair(to: candidate, relay: relay.link) }
        considerNomination(at: now)
        runChecks(at: now)
    }

    /// The peer has no more (RFC 8838 §14). Its checks may still discover one.
    mutating func endRemoteCandidates(at now: NIODeadline) {
        hasAllRemoteCandidates = true
        considerNomination(at: now)
        runChecks(at: now)
    }

    /// `nil` when the pair exists, when no base of ours fits it, or when there are too many.
    @discardableResult
    mutating func addPair(to remote: ICECandidate, relay link: Int?) -> Int? {
        let route = ICERoute(remote.address, relay: link)
        guard !pairs.contains(where: { $0.route == route }) else { return nil }
        let bases = link.map { id in relays.first { $0.link == id }?.candidates ?? [] } ?? hosts
        guard remote.address.isReachableUnicast, pairs.count < configuration.maximumRemoteCandidates,
            let local = bases.first(where: { $0.address.isIPv4 == remote.address.isIPv4 })
        else {
            if link == nil { counters.candidatesIgnored += 1 }
            return nil
        }
        // A server on the internet reaches no private network, and one without a route may give up the relay over it.
        if link != nil, remote.kind == .host, remote.address.isPrivate, !local.address.isPrivate { return nil }
        pairs.append(CandidatePair(local: local, remote: remote, relay: link))
        return pairs.count - 1
    }

    // MARK: Names

    private mutating func resolve(_ candidate: ICECandidate) {
        guard let name = candidate.name, unresolved.count < Self.maximumUnresolved else {
            counters.candidatesIgnored += 1
            return
        }
        let isAsked = unresolved.contains { $0.name == name }
        unresolved.append(candidate)
        if !isAsked { outputs.append(.request(.resolve(name))) }
    }

    /// The addresses of a name that was asked for; none when it has none. The first of each family counts.
    mutating func resolved(_ name: String, to addresses: [SocketAddress], at now: NIODeadline) {
        guard state != .failed else { return }
        _ = gatherer.resolved(name, to: addresses, at: now)
        drainGatherer(at: now)
        let waiting = unresolved.filter { $0.name == name }
        unresolved.removeAll { $0.name == name }
        for candidate in waiting {
            for isIPv4 in [true, false] {
                guard var address = addresses.first(where: { $0.isIPv4 == isIPv4 }) else { continue }
                address.port = candidate.address.port
                var found = candidate
                found.address = address
                found.name = nil
                addRemoteCandidate(found, at: now)
            }
        }
    }
}
