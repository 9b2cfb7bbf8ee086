import IoTCore
import NIOCore

// Sends checks: triggered ones first, then by priority, one every Ta (RFC 8445 §6.1.4.2).
extension ICEAgent {
    var hasCheckToSend: Bool {
        guard !configuration.isLite else { return false }
        return state == .checking && (!triggered.isEmpty || pairs.contains { $0.state == .waiting })
            || state == .completed && !triggered.isEmpty
    }

    mutating func runChecks(at now: NIODeadline) {
        guard state == .checking || state == .completed else { return }
        retransmit(at: now)
        while hasCheckToSend, now >= nextCheck {
            guard let index = takeNextPair() else { continue }
            // Set before sending, because sending may call this method again.
            nextCheck = now + configuration.pacing
            sendCheck(ofPairAt: index, at: now)
        }
    }

    /// The pair to check next; `nil` when a triggered pair no longer exists.
    private mutating func takeNextPair() -> Int? {
        if !triggered.isEmpty {
            let route = triggered.removeFirst()
            return pairs.firstIndex { $0.route == route }
        }
        return pairs.indices.filter { pairs[$0].state == .waiting }.max { left, right in
            pairs[left].priority(isControlling: isControlling) < pairs[right].priority(isControlling: isControlling)
        }
    }

    private mutating func sendCheck(ofPairAt index: Int, at now: NIODeadline) {
        let route = pairs[index].route
        let isNomination = isControlling && nominating == route
        let (id, datagram) = makeRequest(
            on: route, localPriority: pairs[index].local.priority, isNomination: isNomination, isConsent: false,
            at: now)
        pairs[index].state = .inProgress(
            CandidatePair.Check(
                transactionID: id, datagram: datagram, transmissions: 1,
                nextTransmission: now + configuration.retransmission, wait: configuration.retransmission))
        pairs[index].traffic.requestsSent += 1
        transmit(datagram, on: route, at: now)
    }

    private mutating func retransmit(at now: NIODeadline) {
        var due: [(ByteBuffer, ICERoute)] = []
        for index in pairs.indices {
            guard case .inProgress(var check) = pairs[index].state, now >= check.nextTransmission else { continue }
            guard check.transmissions < configuration.transmissions else {
                pairFailed(at: index, now)
                continue
            }
            check.transmissions += 1
            check.wait = check.wait * 2
            check.nextTransmission = now + check.wait
            pairs[index].state = .inProgress(check)
            pairs[index].traffic.requestsSent += 1
            // Measures no round trip, because the response does not show which transmission it answers.
            transactions[check.transactionID]?.sentAt = .distantFuture
            counters.requestsSent += 1
            due.append((check.datagram, pairs[index].route))
        }
        for (datagram, route) in due { transmit(datagram, on: route, at: now) }
    }

    mutating func pairFailed(at index: Int, _ now: NIODeadline) {
        pairs[index].state = .failed
        if nominating == pairs[index].route { nominating = nil }
        // Another working pair, if there is one, takes its place.
        considerNomination(at: now)
    }

    // MARK: Nomination

    /// Nominates the best working pair, at once or when no better one is to be expected (RFC 8445 §8.1.1).
    mutating func considerNomination(at now: NIODeadline) {
        nominationDeadline = nil
        guard isControlling, state == .checking, nominating == nil, !configuration.isLite else { return }
        let working = pairs.indices.filter { pairs[$0].state == .succeeded }
        guard
            let best = working.max(by: {
                pairs[$0].priority(isControlling: true) < pairs[$1].priority(isControlling: true)
            })
        else { return }
        let pair = pairs[best]
        let wait = acceptanceDelay(of: pair)
        let since = working.compactMap { pairs[$0].succeededAt }.min() ?? now
        guard wait > .zero, now < since + wait, mayImprove(on: pair) else { return nominate(pairAt: best) }
        nominationDeadline = since + wait
    }

    private func acceptanceDelay(of pair: CandidatePair) -> TimeAmount {
        if pair.usesRelay { return configuration.relayAcceptanceDelay }
        // Until all of the peer's candidates are known, a discovered address may belong to its relay.
        return pair.remote.kind == .peerReflexive && !hasAllRemoteCandidates
            ? configuration.reflexiveAcceptanceDelay : .zero
    }

    /// True while a pair of higher priority may still come or succeed.
    private func mayImprove(on pair: CandidatePair) -> Bool {
        if !hasAllRemoteCandidates || !unresolved.isEmpty || !(isGathered || configuration.servers.isEmpty) {
            return true
        }
        let priority = pair.priority(isControlling: true)
        return pairs.contains { other in
            (other.state == .waiting || other.isInProgress) && other.priority(isControlling: true) > priority
        }
    }

    /// Checks the pair once more, with USE-CANDIDATE (RFC 8445 §8.1.1).
    private mutating func nominate(pairAt index: Int) {
        nominating = pairs[index].route
        trigger(pairs[index].route)
    }

    mutating func trigger(_ route: ICERoute) {
        if !triggered.contains(route) { triggered.append(route) }
    }

    // MARK: Requests

    /// Makes a Binding request (RFC 8445 §7.2.2).
    mutating func makeRequest(
        on route: ICERoute, localPriority: UInt32, isNomination: Bool, isConsent: Bool, at now: NIODeadline
    ) -> (STUNTransactionID, ByteBuffer) {
        let id = STUNTransactionID(using: &generator)
        let isOfPrevious = isConsent && isSelectedOfPrevious
        let generation = isOfPrevious ? previous ?? current : current
        let preference = UInt16(truncatingIfNeeded: localPriority >> 8)
        var attributes: [STUNAttribute] = [
            .username("\(generation.remote?.ufrag ?? ""):\(generation.local.ufrag)"),
            .priority(ICECandidate.priority(.peerReflexive, localPreference: preference)),
            isControlling ? .iceControlling(tieBreaker: tieBreaker) : .iceControlled(tieBreaker: tieBreaker),
        ]
        if isNomination { attributes.append(.useCandidate) }
        transactions[id] = Transaction(
            route: route, sentAt: now, isNomination: isNomination, wasControlling: isControlling,
            isConsent: isConsent, key: generation.remoteKey, isOfPrevious: isOfPrevious)
        transactionOrder.append(id)
        if transactionOrder.count > Self.maximumTransactions, let oldest = transactionOrder.popFirst() {
            transactions[oldest] = nil
        }
        counters.requestsSent += 1
        if isConsent { counters.consentRequestsSent += 1 }
        let request = STUNMessage(.request, transactionID: id, attributes: attributes)
        return (id, request.datagram(key: generation.remoteKey))
    }
}
