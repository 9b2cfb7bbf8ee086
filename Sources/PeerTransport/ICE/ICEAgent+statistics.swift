import NIOCore

// Pairs and candidates in terms of W3C webrtc-stats.
extension ICEAgent {
    mutating func noteSent(_ byteCount: Int) {
        traffic.packetsSent += 1
        traffic.bytesSent += UInt64(byteCount)
    }

    mutating func noteReceived(_ byteCount: Int) {
        traffic.packetsReceived += 1
        traffic.bytesReceived += UInt64(byteCount)
    }

    /// Adds the traffic since the last call to the selected pair. Call it before the selection changes.
    mutating func foldTraffic() {
        defer { traffic = PairTraffic() }
        guard let index = pairs.firstIndex(where: { $0.route == selected }) else { return }
        pairs[index].traffic.packetsSent += traffic.packetsSent
        pairs[index].traffic.packetsReceived += traffic.packetsReceived
        pairs[index].traffic.bytesSent += traffic.bytesSent
        pairs[index].traffic.bytesReceived += traffic.bytesReceived
    }

    var pairStatistics: [ICECandidatePairStatistics] {
        pairs.map { pair in
            var traffic = pair.traffic
            if pair.route == selected {
                traffic.packetsSent += self.traffic.packetsSent
                traffic.packetsReceived += self.traffic.packetsReceived
                traffic.bytesSent += self.traffic.bytesSent
                traffic.bytesReceived += self.traffic.bytesReceived
            }
            return ICECandidatePairStatistics(
                pair, local: localCandidate(of: pair), traffic: traffic, isSelected: pair.route == selected,
                isControlling: isControlling)
        }
    }

    var localCandidateStatistics: [ICECandidateStatistics] { localCandidates.map(ICECandidateStatistics.init) }
    var remoteCandidateStatistics: [ICECandidateStatistics] { remoteCandidates.map(ICECandidateStatistics.init) }

    /// The local candidate with the pair's mapped address; if there is none, a peer-reflexive one
    /// (RFC 8445 §7.2.5.3.1).
    private func localCandidate(of pair: CandidatePair) -> ICECandidate {
        guard pair.relay == nil, let mapped = pair.mappedAddress else { return pair.local }
        if let known = (hosts + localCandidates).first(where: { $0.address == mapped }) { return known }
        var discovered = pair.local
        discovered.address = mapped
        discovered.kind = .peerReflexive
        discovered.priority = ICECandidate.priority(
            .peerReflexive, localPreference: UInt16(truncatingIfNeeded: pair.local.priority >> 8))
        discovered.related = pair.local.address
        return discovered
    }
}
