import IoTCore
import NIOCore

// Sending checks: the triggered ones first, then by priority, one every Ta (RFC 8445 §6.1.4.2).
extension ICEAgent {
    var hasCheckToSend: Bool {
        state == .checking && (!triggered.isEmpty || pairs.contains { $0.state == .waiting })
            || state == .completed && !triggered.isEmpty
    }

    mutating func runChecks(at now: NIODeadline) {
        guard state == .checking || state == .completed else { return }
        retransmit(at: now)
        while hasCheckToSend, now >= nextCheck {
            guard let index = takeNextPair() else { continue }
            sendCheck(ofPairAt: index, at: now)
            nextCheck = now + configuration.pacing
        }
    }

    /// The pair to check next; `nil` when a triggered one is gone meanwhile.
    private mutating func takeNextPair() -> Int? {
        if !triggered.isEmpty {
            let address = triggered.removeFirst()
            return pairs.firstIndex { $0.remote.address == address }
        }
        return pairs.indices.filter { pairs[$0].state == .waiting }.max { left, right in
            pairs[left].priority(isControlling: isControlling) < pairs[right].priority(isControlling: isControlling)
        }
    }

    private mutating func sendCheck(ofPairAt index: Int, at now: NIODeadline) {
        let address = pairs[index].remote.address
        let isNomination = isControlling && nominating == address
        let (id, datagram) = makeRequest(
            to: address, localPriority: pairs[index].localPriority, isNomination: isNomination, isConsent: false,
            at: now)
        pairs[index].state = .inProgress(
            CandidatePair.Check(
                transactionID: id, datagram: datagram, transmissions: 1,
                nextTransmission: now + configuration.retransmission, wait: configuration.retransmission))
        outputs.append(.transmit(datagram, to: address))
    }

    private mutating func retransmit(at now: NIODeadline) {
        for index in pairs.indices {
            guard case .inProgress(var check) = pairs[index].state, now >= check.nextTransmission else { continue }
            let address = pairs[index].remote.address
            guard check.transmissions < configuration.transmissions else {
                pairFailed(at: index)
                continue
            }
            check.transmissions += 1
            check.wait = check.wait * 2
            check.nextTransmission = now + check.wait
            pairs[index].state = .inProgress(check)
            // Its round trip cannot be told any more: which of them was answered?
            transactions[check.transactionID]?.sentAt = .distantFuture
            counters.requestsSent += 1
            outputs.append(.transmit(check.datagram, to: address))
        }
    }

    mutating func pairFailed(at index: Int) {
        pairs[index].state = .failed
        guard nominating == pairs[index].remote.address else { return }
        nominating = nil
        // Another pair that works, if there is one, takes its place.
        if let next = pairs.firstIndex(where: { $0.state == .succeeded }) { nominate(pairAt: next) }
    }

    /// Checks the pair once more, with USE-CANDIDATE (RFC 8445 §8.1.1).
    mutating func nominate(pairAt index: Int) {
        nominating = pairs[index].remote.address
        trigger(pairs[index].remote.address)
    }

    mutating func trigger(_ address: SocketAddress) {
        if !triggered.contains(address) { triggered.append(address) }
    }

    /// A binding request as RFC 8445 §7.2.2 wants it.
    mutating func makeRequest(
        to address: SocketAddress, localPriority: UInt32, isNomination: Bool, isConsent: Bool, at now: NIODeadline
    ) -> (STUNTransactionID, ByteBuffer) {
        let id = STUNTransactionID(using: &generator)
        let preference = UInt16(truncatingIfNeeded: localPriority >> 8)
        var attributes: [STUNAttribute] = [
            .username("\(remoteCredentials?.ufrag ?? ""):\(credentials.ufrag)"),
            .priority(ICECandidate.priority(.peerReflexive, localPreference: preference)),
            isControlling ? .iceControlling(tieBreaker: tieBreaker) : .iceControlled(tieBreaker: tieBreaker),
        ]
        if isNomination { attributes.append(.useCandidate) }
        transactions[id] = Transaction(
            address: address, sentAt: now, isNomination: isNomination, wasControlling: isControlling,
            isConsent: isConsent)
        transactionOrder.append(id)
        if transactionOrder.count > Self.maximumTransactions, let oldest = transactionOrder.popFirst() {
            transactions[oldest] = nil
        }
        counters.requestsSent += 1
        if isConsent { counters.consentRequestsSent += 1 }
        let request = STUNMessage(.request, transactionID: id, attributes: attributes)
        return (id, request.datagram(key: remoteKey))
    }
}
