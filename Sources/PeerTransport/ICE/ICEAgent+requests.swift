import IoTCore
import NIOCore

// Responses to the peer's checks (RFC 8445 §7.3).
extension ICEAgent {
    /// Takes a STUN datagram from the socket. Returns false when it was not for us.
    mutating func receive(_ datagram: ByteBuffer, from source: SocketAddress, at now: NIODeadline) -> Bool {
        receive(datagram, on: ICERoute(source), at: now)
    }

    mutating func receive(_ datagram: ByteBuffer, on route: ICERoute, at now: NIODeadline) -> Bool {
        guard state != .failed, let message = try? STUNMessage(parsing: datagram),
            message.method == STUNMessage.bindingMethod
        else { return false }
        if message.messageClass != .request, route.relay == nil, gatherer.awaitsResponse(to: message.transactionID) {
            defer { drainGatherer(at: now) }
            return gatherer.receiveBinding(message, from: route.remote, at: now)
        }
        // With the policy `relay`, the agent does not respond outside its relays.
        guard route.relay != nil || configuration.transportPolicy == .all else { return false }
        switch message.messageClass {
        case .request: return receiveRequest(message, on: route, at: now)
        case .successResponse, .errorResponse: return receiveResponse(message, on: route, at: now)
        // A keepalive (RFC 8445 §11): it has no integrity, so it proves nothing, and needs no response.
        case .indication: return validated.contains(route)
        }
    }

    /// Compares bytes, because the message has not been authenticated yet.
    private static func isNamed(_ generation: Generation, by username: STUNText) -> Bool {
        let name = username.bytes
        guard let colon = name.firstIndex(of: UInt8(ascii: ":")),
            name[..<colon].elementsEqual(generation.local.ufrag.utf8)
        else { return false }
        guard let remote = generation.remote else { return true }
        return name[(colon + 1)...].elementsEqual(remote.ufrag.utf8)
    }

    private mutating func receiveRequest(
        _ message: STUNMessage, on route: ICERoute, at now: NIODeadline
    ) -> Bool {
        guard let username = message.username else { return false }
        if let previous, Self.isNamed(previous, by: username), message.isAuthentic(key: previous.localKey) {
            return answerPrevious(message, previous, on: route, at: now)
        }
        guard Self.isNamed(current, by: username), message.isAuthentic(key: current.localKey) else { return false }
        counters.requestsReceived += 1
        let unknown = message.unknownRequiredAttributes
        guard unknown.isEmpty else {
            respond(
                .errorResponse, to: message, on: route, key: current.localKey,
                [.errorCode(420, reason: "Unknown Attribute"), .unknownAttributes(unknown)], at: now)
            return true
        }
        guard settleRoles(with: message, at: now) else {
            respond(
                .errorResponse, to: message, on: route, key: current.localKey,
                [.errorCode(487, reason: "Role Conflict")], at: now)
            return true
        }
        respond(
            .successResponse, to: message, on: route, key: current.localKey, [.xorMappedAddress(route.remote)], at: now)
        markValidated(route)
        noteTraffic(at: now)
        if configuration.isLite, route == selected { consent?.granted(at: now) }
        let priority = message.priority ?? ICECandidate.priority(.peerReflexive, localPreference: 0)
        if state == .idle {
            if earlyChecks.count < Self.maximumEarlyChecks {
                earlyChecks.append(
                    EarlyCheck(route: route, priority: priority, usesCandidate: message.usesCandidate))
            }
        } else {
            peerChecked(on: route, priority: priority, usesCandidate: message.usesCandidate, at: now)
            runChecks(at: now)
        }
        return true
    }

    /// Answers a consent check on the pair that the peer still sends over. It has no other effect.
    private mutating func answerPrevious(
        _ message: STUNMessage, _ previous: Generation, on route: ICERoute, at now: NIODeadline
    ) -> Bool {
        counters.requestsReceived += 1
        guard message.unknownRequiredAttributes.isEmpty else { return true }
        respond(
            .successResponse, to: message, on: route, key: previous.localKey, [.xorMappedAddress(route.remote)],
            at: now)
        noteTraffic(at: now)
        return true
    }

    /// RFC 8445 §7.3.1.1: the side with the greater tie breaker controls. Returns false when the peer has to switch.
    private mutating func settleRoles(with message: STUNMessage, at now: NIODeadline) -> Bool {
        if isControlling, let theirs = message.controllingTieBreaker {
            if tieBreaker >= theirs { return false }
            switchRole(at: now)
        } else if !isControlling, let theirs = message.controlledTieBreaker {
            if tieBreaker < theirs { return false }
            // A lite agent sends no checks, so it cannot control.
            if !configuration.isLite { switchRole(at: now) }
        }
        return true
    }

    mutating func switchRole(at now: NIODeadline) {
        isControlling.toggle()
        nominating = nil
        // The wrong side made the old nomination, so it is void. The new controlling side may nominate a working pair.
        considerNomination(at: now)
    }

    private mutating func respond(
        _ messageClass: STUNMessage.Class, to request: STUNMessage, on route: ICERoute, key: [UInt8],
        _ attributes: [STUNAttribute], at now: NIODeadline
    ) {
        let response = STUNMessage(messageClass, transactionID: request.transactionID, attributes: attributes)
        counters.responsesSent += 1
        if let index = pairs.firstIndex(where: { $0.route == route }) {
            pairs[index].traffic.requestsReceived += 1
            pairs[index].traffic.responsesSent += 1
        }
        transmit(response.datagram(key: key), on: route, at: now)
    }

    mutating func markValidated(_ route: ICERoute) {
        guard !validated.contains(route) else { return }
        if validated.count >= configuration.maximumRemoteCandidates {
            // The peer has moved often: forgets the addresses that no pair uses any more.
            validated.formIntersection(Set(pairs.map(\.route) + (selected.map { [$0] } ?? [])))
        }
        guard validated.count < configuration.maximumRemoteCandidates else { return }
        validated.insert(route)
        outputs.append(.event(.validated(route)))
    }

    /// The triggered check (RFC 8445 §7.3.1.4), and the nomination if the request carried one (§7.3.1.5).
    mutating func peerChecked(on route: ICERoute, priority: UInt32, usesCandidate: Bool, at now: NIODeadline) {
        let known = pairs.firstIndex { $0.route == route }
        let discovered =
            remoteCandidates.first { $0.address == route.remote }
            ?? ICECandidate(foundation: "p", priority: priority, address: route.remote, kind: .peerReflexive)
        guard let index = known ?? addPair(to: discovered, relay: route.relay, isChecked: true) else { return }
        let nominates = usesCandidate && !isControlling
        if configuration.isLite {
            // A lite agent learns only from the peer's checks (RFC 8445 §7.3.2).
            pairs[index].state = .succeeded
            if nominates { pairNominated(at: index, now) }
            return
        }
        switch pairs[index].state {
        case .succeeded:
            if nominates { pairNominated(at: index, now) }
        case .waiting, .inProgress, .failed:
            // A check in progress is not sent again, but its response still counts. The new check goes out at once.
            pairs[index].isNominatedOnSuccess = pairs[index].isNominatedOnSuccess || nominates
            if state == .completed && !nominates { return }
            pairs[index].state = .waiting
            trigger(route)
        }
    }

    /// Selects the nominated pair for data. The controlled side may get several nominations; the best pair wins.
    mutating func pairNominated(at index: Int, _ now: NIODeadline) {
        let pair = pairs[index]
        pairs[index].isNominated = true
        if state == .completed, let current = pairs.first(where: { $0.route == selected }),
            current.isNominated,
            current.priority(isControlling: isControlling) >= pair.priority(isControlling: isControlling)
        {
            return
        }
        state = .completed
        nominating = nil
        nominationDeadline = nil
        // Ends the other checks (§8.1.2): nothing more is sent for them.
        triggered.removeAll()
        unresolved.removeAll()
        pairs.removeAll { !$0.isNominated && $0.state != .succeeded }
        select(pair.route, at: now)
        releaseAt = now + Self.releaseDelay
    }
}
