import NIOCore

// The peer's candidates, and the pairs that they form (RFC 8445 §6.1.2, RFC 8838 §8 to §11).
extension ICEAgent {
    /// May be called before or after `start`, and while checks run.
    mutating func addRemoteCandidate(_ candidate: ICECandidate, at now: NIODeadline) {
        guard state == .idle || state == .checking else { return }
        // The candidate is of another generation: either it or a restart's description has overtaken the other.
        if let ufrag = candidate.ufrag, let remote = current.remote, ufrag != remote.ufrag { return }
        if candidate.name != nil { return resolve(candidate) }
        // RFC 8838 §12: a duplicate changes nothing.
        guard !remoteCandidates.contains(where: { $0.address == candidate.address }) else { return }
        guard candidate.address.isReachableUnicast, makeRoom(for: candidate) else {
            counters.candidatesIgnored += 1
            return
        }
        remoteCandidates.append(candidate)
        for index in pairs.indices
        where pairs[index].remote.address == candidate.address && pairs[index].remote.kind == .peerReflexive {
            // A check discovered it before it was signalled.
            pairs[index].remote = candidate
        }
        if configuration.transportPolicy == .all { addPair(to: candidate, relay: nil) }
        for relay in relays { addPair(to: candidate, relay: relay.link) }
        considerNomination(at: now)
        runChecks(at: now)
    }

    /// The peer has no more candidates (RFC 8838 §14). Its checks may still discover one.
    mutating func endRemoteCandidates(at now: NIODeadline) {
        hasAllRemoteCandidates = true
        considerNomination(at: now)
        runChecks(at: now)
    }

    /// Adds a pair. Returns `nil` when the pair exists, when we have no base of its family, or when there are too many
    /// pairs of more value.
    ///
    /// - Parameter isChecked: true when the peer itself has checked this pair, with our password.
    @discardableResult
    mutating func addPair(to remote: ICECandidate, relay link: Int?, isChecked: Bool = false) -> Int? {
        let route = ICERoute(remote.address, relay: link)
        guard !pairs.contains(where: { $0.route == route }) else { return nil }
        let bases = link.map { id in relays.first { $0.link == id }?.candidates ?? [] } ?? hosts
        guard remote.address.isReachableUnicast,
            let local = bases.first(where: { $0.address.isIPv4 == remote.address.isIPv4 })
        else {
            if link == nil { counters.candidatesIgnored += 1 }
            return nil
        }
        // A server on the internet cannot reach private networks. Some drop the whole relay if a route is missing.
        if link != nil, remote.kind == .host, remote.address.isPrivate, !local.address.isPrivate { return nil }
        let pair = CandidatePair(local: local, remote: remote, relay: link)
        guard makeRoom(for: pair, isChecked: isChecked) else {
            if link == nil { counters.candidatesIgnored += 1 }
            return nil
        }
        pairs.append(pair)
        return pairs.count - 1
    }

    // MARK: Limits

    /// The reasons why a pair or a candidate may be removed, cheapest first. Others are kept.
    private enum Dispensable: Int, Comparable {
        case failed
        /// Three requests without a response, which take most of a second.
        case silent
        /// Its priority is lower than that of the pair or candidate that replaces it (RFC 8445 §6.1.2.5).
        case lesser

        static func < (left: Dispensable, right: Dispensable) -> Bool { left.rawValue < right.rawValue }
    }

    private static let silentTransmissions = 3

    /// `nil` for a pair that works or is to carry data, and for a pair that the peer has checked itself.
    private func dispensability(of pair: CandidatePair, isLesser: Bool) -> Dispensable? {
        let route = pair.route
        guard pair.state != .succeeded, !pair.isNominated, route != selected, route != nominating,
            !validated.contains(route)
        else { return nil }
        if pair.state == .failed { return .failed }
        if case .inProgress(let check) = pair.state, check.transmissions >= Self.silentTransmissions {
            return .silent
        }
        return isLesser ? .lesser : nil
    }

    /// Returns false when the limit is reached and no pair may be removed.
    private mutating func makeRoom(for new: CandidatePair, isChecked: Bool) -> Bool {
        guard pairs.count >= configuration.maximumRemoteCandidates else { return true }
        let priority = new.priority(isControlling: isControlling)
        let costs = pairs.indices.compactMap { index -> (Dispensable, UInt64, Int)? in
            let own = pairs[index].priority(isControlling: isControlling)
            let kind = dispensability(of: pairs[index], isLesser: isChecked || own < priority)
            return kind.map { ($0, own, index) }
        }
        guard let (_, _, index) = costs.min(by: { ($0.0, $0.1) < ($1.0, $1.1) }) else { return false }
        pairs.remove(at: index)
        return true
    }

    /// Returns false when the limit is reached and no candidate may be removed. A candidate is removed with its pairs.
    private mutating func makeRoom(for new: ICECandidate) -> Bool {
        guard remoteCandidates.count >= configuration.maximumRemoteCandidates else { return true }
        let pairs = Dictionary(grouping: pairs, by: \.remote.address)
        let costs = remoteCandidates.indices.compactMap { index -> (Dispensable, UInt32, Int)? in
            let candidate = remoteCandidates[index]
            let isLesser = candidate.priority < new.priority
            var kind: Dispensable? = isLesser ? .lesser : nil
            if let own = pairs[candidate.address] {
                let kinds = own.map { dispensability(of: $0, isLesser: isLesser) }
                // The most valuable of its pairs decides.
                kind = kinds.contains(nil) ? nil : kinds.compactMap { $0 }.max()
            } else if !hosts.contains(where: { $0.address.isIPv4 == candidate.address.isIPv4 }) {
                // We have no base of its family.
                kind = .failed
            }
            return kind.map { ($0, candidate.priority, index) }
        }
        guard let (_, _, index) = costs.min(by: { ($0.0, $0.1) < ($1.0, $1.1) }) else { return false }
        let gone = remoteCandidates.remove(at: index)
        self.pairs.removeAll { $0.remote.address == gone.address }
        return true
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

    /// Takes the addresses of a name that was requested; empty when it has none. The first of each family is used.
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
