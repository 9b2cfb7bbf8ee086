import IoTCore
import NIOCore

// Responses to our own checks (RFC 8445 §7.2.5), and consent (RFC 7675).
extension ICEAgent {
    /// True when this answers one of our requests. This finds the peer of a datagram before its address is known.
    func awaitsResponse(to id: STUNTransactionID) -> Bool {
        transactions[id] != nil || gatherer.awaitsResponse(to: id)
    }

    mutating func receiveResponse(_ message: STUNMessage, on route: ICERoute, at now: NIODeadline) -> Bool {
        guard let transaction = transactions[message.transactionID], message.isAuthentic(key: transaction.key) else {
            return false
        }
        transactions[message.transactionID] = nil
        counters.responsesReceived += 1
        let index =
            transaction.isOfPrevious || isOld(transaction) ? nil : pairs.firstIndex { $0.route == transaction.route }
        if let index { pairs[index].traffic.responsesReceived += 1 }
        // The response must come from where the request went (§7.2.5.2.1), and must be understood (RFC 8489 §6.3.3).
        guard route == transaction.route, message.unknownRequiredAttributes.isEmpty else {
            if let index, pairs[index].isInProgress { pairFailed(at: index, now) }
            return true
        }
        if message.messageClass == .errorResponse {
            receiveError(message, pairAt: index, transaction, at: now)
        } else {
            receiveSuccess(message, pairAt: index, transaction, at: now)
        }
        runChecks(at: now)
        return true
    }

    /// True for a check from before the restart.
    private func isOld(_ transaction: Transaction) -> Bool {
        transaction.key != current.remoteKey
    }

    private mutating func receiveError(
        _ message: STUNMessage, pairAt index: Int?, _ transaction: Transaction, at now: NIODeadline
    ) {
        if message.errorCode == 487 {
            // A request of the peer may have switched the role already.
            if isControlling == transaction.wasControlling { switchRole(at: now) }
            if let index, pairs[index].isInProgress {
                pairs[index].state = .waiting
                trigger(transaction.route)
            }
        } else if let index, !transaction.isConsent {
            pairFailed(at: index, now)
        }
    }

    private mutating func receiveSuccess(
        _ message: STUNMessage, pairAt index: Int?, _ transaction: Transaction, at now: NIODeadline
    ) {
        if now >= transaction.sentAt {
            let roundTrip = now - transaction.sentAt
            counters.currentRoundTripTime = roundTrip
            counters.totalRoundTripTime = counters.totalRoundTripTime + roundTrip
            if let index {
                pairs[index].traffic.currentRoundTripTime = roundTrip
                pairs[index].traffic.totalRoundTripTime = pairs[index].traffic.totalRoundTripTime + roundTrip
            }
        }
        markValidated(transaction.route)
        noteTraffic(at: now)
        if transaction.route == selected, transaction.isOfPrevious == isSelectedOfPrevious {
            consent?.granted(at: now)
        }
        guard !transaction.isConsent, let index else { return }
        // A response to an older check must not end the nomination in progress.
        let isNominating =
            nominating == transaction.route && !transaction.isNomination && pairs[index].isInProgress
        if !isNominating { pairs[index].state = .succeeded }
        pairs[index].mappedAddress = message.mappedAddress
        if pairs[index].succeededAt == nil { pairs[index].succeededAt = now }
        triggered.removeAll { $0 == transaction.route && nominating != $0 }
        if selected == nil { select(transaction.route, at: now) }
        if isControlling {
            if transaction.isNomination, transaction.wasControlling {
                pairNominated(at: index, now)
            } else {
                considerNomination(at: now)
            }
        } else if pairs[index].isNominatedOnSuccess {
            pairNominated(at: index, now)
        }
    }

    mutating func select(_ route: ICERoute, at now: NIODeadline) {
        if isSelectedOfPrevious {
            // The restart is done: from here on, consent checks use the new credentials.
            isSelectedOfPrevious = false
            consent = nil
            // Bounds the peer's addresses over any number of restarts. Its data may still arrive on the old path.
            let kept = Set(pairs.map(\.route) + [route] + (selected.map { [$0] } ?? []))
            validated.formIntersection(kept)
        }
        // The successful check is the first consent (RFC 7675 §5.1).
        if consent == nil {
            consent = ConsentFreshness(configuration: configuration, at: now, jitter: generator.next())
        }
        guard selected != route else { return }
        foldTraffic()
        selected = route
        counters.selectedCandidatePairChanges += 1
        if let link = route.relay {
            gatherer.bindChannel(to: route.remote, link: link, at: now)
            drainGatherer(at: now)
        }
        outputs.append(.event(.selected(route)))
    }

    mutating func runConsent(at now: NIODeadline) {
        guard var freshness = consent, let selected else { return }
        let jitter = freshness.isDue(at: now) ? generator.next() : 0
        for action in freshness.handleTimeout(at: now, jitter: jitter) {
            switch action {
            case .check:
                // A lite agent sends none; it relies on the peer's checks (RFC 7675 §4).
                guard !configuration.isLite else { continue }
                let index = pairs.firstIndex { $0.route == selected }
                let localPriority = index.map { pairs[$0].local.priority } ?? .max
                let (_, datagram) = makeRequest(
                    on: selected, localPriority: localPriority, isNomination: false, isConsent: true, at: now)
                if let index { pairs[index].traffic.consentRequestsSent += 1 }
                transmit(datagram, on: selected, at: now)
            case .disconnected:
                outputs.append(.event(.disconnected))
            case .expired:
                return fail(.timeoutDisconnected)
            }
        }
        consent = freshness
    }
}
