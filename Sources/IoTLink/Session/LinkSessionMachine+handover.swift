import IoTCore
import NIOCore

// Renews the token of an online session in time, and moves the session to a connection with the new token.
extension LinkSessionMachine {
    /// An output for the next connection of the session.
    enum HandoverOutput {
        case connect(attempt: Int, LinkAddress, clientID: String)
        case subscribe(filter: String)
        case publish(topic: String, payload: [UInt8])
        /// Make it the session's connection. The old one sends its queued messages and disconnects without its will.
        case adopt
        /// Disconnect it.
        case abandon
    }

    /// The MQTT client id of the session's connection. The broker disconnects a client when another one connects with
    /// its id (MQTT 3.1.1 §3.1.4), so the id is secret: peers cannot learn it. The two forms alternate, because during
    /// a handover there are two connections.
    var clientID: String { clientID(isAlternate: usesAlternateID) }

    private func clientID(isAlternate: Bool) -> String {
        clientSecret + (isAlternate ? "-b" : "")
    }

    // MARK: Moving to another connection

    mutating func handleNewToken(at now: NIODeadline, wall: Int64) {
        handoverFailures = 0
        switch phase {
        case .online where handover == nil && retiring == nil: startHandover(at: now)
        case .online, .connecting, .subscribing, .beginning: hasUnusedToken = true
        case .idle, .waiting, .leaving, .finished: break
        }
    }

    mutating func startHandover(at now: NIODeadline) {
        hasUnusedToken = false
        handoverRetry = nil
        let attempt = mintAttempt()
        handover = LinkHandover(attempt: attempt, until: now + limits.connectTimeout)
        emit(.handover(.connect(attempt: attempt, address, clientID: clientID(isAlternate: !usesAlternateID))))
    }

    /// The next connection failed. The session stays on the present one.
    private mutating func failHandover(isWorthRetrying: Bool, at now: NIODeadline) {
        abandonHandover()
        counters.failedHandovers += 1
        handoverFailures += 1
        guard isWorthRetrying, handoverFailures <= 8 else { return }
        handoverRetry = now + .milliseconds(500 << Int64(handoverFailures))
    }

    mutating func abandonHandover() {
        handoverRetry = nil
        guard handover != nil else { return }
        handover = nil
        emit(.handover(.abandon))
    }

    /// Handles an event of the next connection.
    mutating func handleNext(_ event: Transport, at now: NIODeadline, wall: Int64) {
        guard var handover, case .online = phase else { return }
        switch (event, handover.stage) {
        case (.connected, .connecting):
            handover.stage = .subscribing
            self.handover = handover
            emit(.handover(.subscribe(filter: address.downTopic)))
        case (.subscribed(granted: true), .subscribing):
            let id = mintID()
            handover.stage = .marking(id: id, sentAt: now)
            self.handover = handover
            let mark = request(
                id: id, SessionMethod.heartbeat, SessionHeartbeat(connection: Int64(handover.attempt)),
                deadline: handover.until, at: now, wall: wall)
            guard let payload = try? mark.serialized() else { return }
            emit(.handover(.publish(topic: address.upTopic, payload: payload)))
        case (.received(let envelope), .marking(let id, _)):
            receive(envelope, after: id, at: now, wall: wall)
        case (.lost, _), (.closed, _), (.credentialsRefused, _):
            failHandover(isWorthRetrying: true, at: now)
        case (.tokenUnreadable, _), (.subscribed(granted: false), _):
            failHandover(isWorthRetrying: false, at: now)
        default: break
        }
    }

    private mutating func receive(_ envelope: Envelope, after mark: String, at now: NIODeadline, wall: Int64) {
        guard var handover else { return }
        if handover.newHasMark {
            guard handover.received.count < LinkHandover.maximumReceived else {
                return failHandover(isWorthRetrying: true, at: now)
            }
            handover.received.append(envelope)
        } else if case .reply(let reply) = envelope, reply.id == mark {
            guard reply.code == .success else { return failHandover(isWorthRetrying: true, at: now) }
            handover.newHasMark = true
        }
        self.handover = handover
        if handover.oldHasMark, handover.newHasMark { adopt(at: now, wall: wall) }
    }

    /// Handles a message on the old connection during a handover. Returns `true` if nothing more is to be done with it.
    mutating func receivedOnOld(_ envelope: Envelope, at now: NIODeadline, wall: Int64) -> Bool {
        guard var handover, case .marking(let id, let sentAt) = handover.stage else { return false }
        if handover.oldHasMark { return true }
        guard case .reply(let reply) = envelope, reply.id == id else { return false }
        guard reply.code == .success else {
            abandonHandover()
            _ = accept(reply, at: now, wall: wall)
            return true
        }
        learnClock(reply, sentAt: sentAt, at: now, wall: wall)
        handover.oldHasMark = true
        self.handover = handover
        if handover.newHasMark { adopt(at: now, wall: wall) }
        return true
    }

    private mutating func adopt(at now: NIODeadline, wall: Int64) {
        guard let handover else { return }
        self.handover = nil
        handoverFailures = 0
        counters.handovers += 1
        retiring = RetiringConnection(attempt: attempt, until: now + limits.leaveTimeout)
        attempt = handover.attempt
        usesAlternateID.toggle()
        if let claims = handover.claims { use(claims, at: now, wall: wall) }
        emit(.handover(.adopt))
        for envelope in handover.received {
            guard case .online = phase else { return }
            receive(envelope, at: now, wall: wall)
        }
    }

    /// Handles an event of the old connection after the move. When it closes in order, everything that we published on
    /// it has arrived. Only then does the new connection send, so that requests keep their order.
    mutating func handleRetired(_ event: Transport, at now: NIODeadline, wall: Int64) {
        switch event {
        case .closed:
            retiring = nil
            guard case .online = phase else { return }
            sendWaiting(at: now, wall: wall)
            if hasUnusedToken { startHandover(at: now) }
        case .lost(let reason), .credentialsRefused(let reason):
            retiring = nil
            // Messages may be lost, and its will may end the session: begin the session again and resend the requests.
            if case .online = phase { goOffline(.connectionLost, reason, at: now, wall: wall) }
        default: break
        }
    }

    mutating func handleHandoverTimeout(at now: NIODeadline, wall: Int64) {
        if let handover, handover.until <= now { failHandover(isWorthRetrying: true, at: now) }
        if let retiring, retiring.until <= now {
            let reason = IoTError(.linkUnavailable, "the earlier connection to the broker did not end")
            handleRetired(.lost(reason), at: now, wall: wall)
        }
        guard case .online = phase, handover == nil, retiring == nil else { return }
        if let handoverRetry, handoverRetry <= now { return startHandover(at: now) }
        if renewal.request == nil, let due = renewal.due, due <= now { renew(at: now, wall: wall) }
    }

    /// The earliest deadline of a handover or a renewal, while online.
    var nextHandoverDeadline: NIODeadline? {
        if let handover { return handover.until }
        if let retiring { return retiring.until }
        let due = renewal.request == nil ? renewal.due : nil
        return [handoverRetry, due].compactMap { $0 }.min()
    }

    // MARK: Renewing the token

    mutating func use(_ claims: TokenClaims, at now: NIODeadline, wall: Int64) {
        token = claims
        renewal.use(claims)
        renewal.learn(hubTime: hubTime(at: now, wall: wall), at: now)
    }

    private mutating func renew(at now: NIODeadline, wall: Int64) {
        let id = mintID()
        renewal.request = id
        let params = TokenRenewalParameters(token: token?.text).json
        add(
            PendingRequests.Entry(
                id: id, method: TokenMethod.renew.name, params: params, deadline: now + limits.connectTimeout,
                takesMany: false), at: now, wall: wall)
    }

    mutating func renewed(_ outcome: Result<JSONValue, IoTError>) {
        guard case .success(let result) = outcome, let token = result["token"]?.stringValue,
            token.utf8.count <= LinkToken.maximumSize, (try? TokenClaims(parsing: token)) != nil
        else {
            counters.failedRenewals += 1
            return renewal.failed(at: present)
        }
        counters.renewedTokens += 1
        renewal.succeeded(at: present)
        emit(.renewed(token: token))
        handleNewToken(at: present, wall: 0)
    }
}
