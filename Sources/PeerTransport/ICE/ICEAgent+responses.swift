import IoTCore
import NIOCore

// What comes back to our own checks (RFC 8445 §7.2.5).
extension ICEAgent {
    /// True when this answers a request of ours: how a datagram finds its peer before its address is known.
    func awaitsResponse(to id: STUNTransactionID) -> Bool {
        transactions[id] != nil
    }

    mutating func receiveResponse(
        _ message: STUNMessage, from source: SocketAddress, at now: NIODeadline
    ) -> Bool {
        guard let transaction = transactions[message.transactionID], message.isAuthentic(key: remoteKey) else {
            return false
        }
        transactions[message.transactionID] = nil
        counters.responsesReceived += 1
        let index = pairs.firstIndex { $0.remote.address == transaction.address }
        // The answer must come from where the request went (§7.2.5.2.1), and must be understood (RFC 8489 §6.3.3).
        guard source == transaction.address, message.unknownRequiredAttributes.isEmpty else {
            if let index, pairs[index].isInProgress { pairFailed(at: index) }
            return true
        }
        if message.messageClass == .errorResponse {
            receiveError(message, pairAt: index, transaction)
        } else {
            receiveSuccess(pairAt: index, transaction, at: now)
        }
        runChecks(at: now)
        return true
    }

    private mutating func receiveError(_ message: STUNMessage, pairAt index: Int?, _ transaction: Transaction) {
        if message.errorCode == 487 {
            // Switched already if a request of the peer's told us first.
            if isControlling == transaction.wasControlling { switchRole() }
            if let index, pairs[index].isInProgress {
                pairs[index].state = .waiting
                trigger(transaction.address)
            }
        } else if let index, !transaction.isConsent {
            pairFailed(at: index)
        }
    }

    private mutating func receiveSuccess(pairAt index: Int?, _ transaction: Transaction, at now: NIODeadline) {
        if now >= transaction.sentAt {
            let roundTrip = now - transaction.sentAt
            counters.currentRoundTripTime = roundTrip
            counters.totalRoundTripTime = counters.totalRoundTripTime + roundTrip
        }
        markValidated(transaction.address)
        noteTraffic(at: now)
        if transaction.address == selected { consent?.granted(at: now) }
        guard !transaction.isConsent, let index else { return }
        pairs[index].state = .succeeded
        triggered.removeAll { $0 == transaction.address && nominating != $0 }
        if selected == nil { select(transaction.address, at: now) }
        if isControlling {
            if transaction.isNomination, transaction.wasControlling {
                pairNominated(at: index)
            } else if nominating == nil, state == .checking {
                nominate(pairAt: index)
            }
        } else if pairs[index].isNominatedOnSuccess {
            pairNominated(at: index)
        }
    }

    mutating func select(_ address: SocketAddress, at now: NIODeadline? = nil) {
        guard selected != address else { return }
        selected = address
        counters.selectedCandidatePairChanges += 1
        // The check that succeeded is the first consent (RFC 7675 §5.1).
        if let now, consent == nil {
            consent = ConsentFreshness(configuration: configuration, at: now, jitter: generator.next())
        }
        outputs.append(.event(.selected(address)))
    }

    mutating func runConsent(at now: NIODeadline) {
        guard var freshness = consent, let selected else { return }
        let jitter = freshness.isDue(at: now) ? generator.next() : 0
        for action in freshness.handleTimeout(at: now, jitter: jitter) {
            switch action {
            case .check:
                let localPriority = pairs.first { $0.remote.address == selected }?.localPriority ?? 0
                let (_, datagram) = makeRequest(
                    to: selected, localPriority: localPriority, isNomination: false, isConsent: true, at: now)
                outputs.append(.transmit(datagram, to: selected))
            case .disconnected:
                outputs.append(.event(.disconnected))
            case .expired:
                return fail(.timeoutDisconnected)
            }
        }
        consent = freshness
    }
}
