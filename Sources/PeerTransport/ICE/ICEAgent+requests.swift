import IoTCore
import NIOCore

// Answering the peer's checks (RFC 8445 §7.3).
extension ICEAgent {
    /// Takes a datagram that looks like STUN; false when it was not the peer's.
    mutating func receive(_ datagram: ByteBuffer, from source: SocketAddress, at now: NIODeadline) -> Bool {
        guard state != .failed, let message = try? STUNMessage(parsing: datagram),
            message.method == STUNMessage.bindingMethod
        else { return false }
        switch message.messageClass {
        case .request: return receiveRequest(message, from: source, at: now)
        case .successResponse, .errorResponse: return receiveResponse(message, from: source, at: now)
        // A keepalive (RFC 8445 §11): without integrity it proves nothing and needs no answer.
        case .indication: return validated.contains(source)
        }
    }

    private mutating func receiveRequest(
        _ message: STUNMessage, from source: SocketAddress, at now: NIODeadline
    ) -> Bool {
        guard let username = message.username, let colon = username.firstIndex(of: ":"),
            username[..<colon] == credentials.ufrag,
            remoteCredentials == nil || username[username.index(after: colon)...] == remoteCredentials?.ufrag ?? "",
            message.isAuthentic(key: localKey)
        else { return false }
        counters.requestsReceived += 1
        let unknown = message.unknownRequiredAttributes
        guard unknown.isEmpty else {
            respond(
                .errorResponse, to: message, at: source,
                [.errorCode(420, reason: "Unknown Attribute"), .unknownAttributes(unknown)])
            return true
        }
        guard settleRoles(with: message) else {
            respond(.errorResponse, to: message, at: source, [.errorCode(487, reason: "Role Conflict")])
            return true
        }
        respond(.successResponse, to: message, at: source, [.xorMappedAddress(source)])
        markValidated(source)
        noteTraffic(at: now)
        let priority = message.priority ?? ICECandidate.priority(.peerReflexive, localPreference: 0)
        if state == .idle {
            if earlyChecks.count < Self.maximumEarlyChecks {
                earlyChecks.append(
                    EarlyCheck(address: source, priority: priority, usesCandidate: message.usesCandidate))
            }
        } else {
            peerChecked(from: source, priority: priority, usesCandidate: message.usesCandidate)
            runChecks(at: now)
        }
        return true
    }

    /// RFC 8445 §7.3.1.1: the greater tie breaker controls. False when the peer has to change.
    private mutating func settleRoles(with message: STUNMessage) -> Bool {
        if isControlling, let theirs = message.controllingTieBreaker {
            if tieBreaker >= theirs { return false }
            switchRole()
        } else if !isControlling, let theirs = message.controlledTieBreaker {
            if tieBreaker < theirs { return false }
            switchRole()
        }
        return true
    }

    mutating func switchRole() {
        isControlling.toggle()
        nominating = nil
        // A nomination by the wrong side is none, and what already works can be named by the right one.
        if isControlling, state == .checking, let index = pairs.firstIndex(where: { $0.state == .succeeded }) {
            nominate(pairAt: index)
        }
    }

    private mutating func respond(
        _ messageClass: STUNMessage.Class, to request: STUNMessage, at source: SocketAddress,
        _ attributes: [STUNAttribute]
    ) {
        let response = STUNMessage(messageClass, transactionID: request.transactionID, attributes: attributes)
        counters.responsesSent += 1
        outputs.append(.transmit(response.datagram(key: localKey), to: source))
    }

    mutating func markValidated(_ address: SocketAddress) {
        guard validated.count < configuration.maximumRemoteCandidates, validated.insert(address).inserted else {
            return
        }
        outputs.append(.event(.validated(address)))
    }

    /// The triggered check (RFC 8445 §7.3.1.4), and the nomination if the request carried one (§7.3.1.5).
    mutating func peerChecked(from source: SocketAddress, priority: UInt32, usesCandidate: Bool) {
        let known = pairs.firstIndex { $0.remote.address == source }
        let discovered = ICECandidate(
            foundation: "p", priority: priority, address: source, kind: .peerReflexive)
        guard let index = known ?? addPair(to: discovered) else { return }
        let nominates = usesCandidate && !isControlling
        switch pairs[index].state {
        case .succeeded:
            if nominates { pairNominated(at: index) }
        case .waiting, .inProgress, .failed:
            // A check under way is not sent again, but its answer still counts: the new one goes out at once.
            pairs[index].isNominatedOnSuccess = pairs[index].isNominatedOnSuccess || nominates
            if state == .completed && !nominates { return }
            pairs[index].state = .waiting
            trigger(source)
        }
    }

    /// From here on data go this way. The controlled side may be given several: the best of them stands.
    mutating func pairNominated(at index: Int) {
        let pair = pairs[index]
        pairs[index].isNominated = true
        if state == .completed, let current = pairs.first(where: { $0.remote.address == selected }),
            current.isNominated,
            current.priority(isControlling: isControlling) >= pair.priority(isControlling: isControlling)
        {
            return
        }
        state = .completed
        nominating = nil
        // The others end (§8.1.2): nothing is sent for them any more.
        triggered.removeAll()
        pairs.removeAll { !$0.isNominated && $0.state != .succeeded }
        select(pair.remote.address)
    }
}
