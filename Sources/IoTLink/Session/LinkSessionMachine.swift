import IoTCore
import NIOCore

/// The state machine of a link session: registering, connecting, staying online, reconnecting, and the requests of both
/// sides.
///
/// It performs no I/O and owns no socket, clock, task or logger. Pass inputs to `handle` and perform the outputs that
/// it returns, in order. Call it with `.timeout` at `nextDeadline`.
struct LinkSessionMachine: Sendable {
    enum Input {
        case register
        case unregister
        /// There is a new token.
        case tokenUpdated
        /// End the session. No input follows.
        case stop
        case timeout
        /// An event of the connection that `.connect(attempt:)` requested. Events of older attempts are ignored.
        case transport(attempt: Int, Transport)
        /// The claims of the token of a connection.
        case tokenRead(attempt: Int, TokenClaims)
        case request(PendingRequests.Entry)
        /// The caller no longer waits.
        case cancel(id: String)
        /// A handler sent one of several answers.
        case partlyAnswered(RememberedAnswers.Key, JSONValue)
        /// A handler finished.
        case handled(RememberedAnswers.Key, Result<JSONValue, IoTError>)
    }

    enum Transport {
        case connected
        case subscribed(granted: Bool)
        case received(Envelope)
        case malformed
        /// The token could not be read, or is malformed.
        case tokenUnreadable(IoTError)
        case credentialsRefused(IoTError)
        /// The connection failed or was lost.
        case lost(IoTError)
        /// The connection ended by our request.
        case closed
    }

    enum Output {
        case connect(attempt: Int, LinkAddress)
        /// Send what was published before, then disconnect without the will.
        case disconnect
        case subscribe(filter: String)
        /// - Parameter isJoinable: whether the hub reads it as a part of an `EnvelopeBatch`, too.
        case publish(topic: String, payload: [UInt8], isJoinable: Bool)
        case status(LinkStatusChange)
        /// One of several answers. `complete` follows later.
        case answer(id: String, JSONValue)
        case complete(id: String, Result<JSONValue, IoTError>)
        /// Run a handler, and feed `handled` when it ends, at the deadline at the latest.
        case execute(RememberedAnswers.Key, LinkRequest, deadline: NIODeadline)
        /// Cancel a running handler, because nobody wants its answers any more.
        case finish(RememberedAnswers.Key)
        case push(LinkPush)
        /// The number of the device's owner, before any request that comes after the hub knew it.
        case ownership(Int64)
        /// What a device needs to check grants without the hub, before any request that comes after the hub said it.
        case grantTrust(GrantTrust)
        /// Somebody's rights to the device were withdrawn.
        case rightsWithdrawn(RightsWithdrawn)
        case handover(HandoverOutput)
        /// Store this token, before performing the next `connect`.
        case renewed(token: String)
        /// After `stop`: no output follows.
        case finished
    }

    enum Phase {
        /// Unregistered, token refused or kicked; see `status`.
        case idle
        /// Offline, until the next attempt.
        case waiting(until: NIODeadline)
        case connecting(until: NIODeadline)
        case subscribing(until: NIODeadline)
        case beginning(Beginning)
        case online(Online)
        case leaving(until: NIODeadline)
        case finished
    }

    struct Beginning {
        let until: NIODeadline
        /// The `session.begin` requests of this attempt, and when each was sent. Any of them may be answered.
        var sent: [String: NIODeadline] = [:]
        var newest = ""
        /// When to repeat the request. A broker may start before its hub and then accepts requests that the hub never
        /// gets.
        var nextAsk: NIODeadline
        var pause: TimeAmount
    }

    struct Online {
        let since: NIODeadline
        var nextHeartbeat: NIODeadline
        /// The unanswered heartbeat and when it was sent.
        var heartbeat: (id: String, sentAt: NIODeadline)?
        var missed = 0
    }

    let principal: Principal
    let limits: LinkLimits
    private(set) var status: LinkStatusChange
    private(set) var address: LinkAddress
    /// 128 random bits for the client id of each registration. They are kept while it reconnects, so that the broker
    /// ends what remains of a lost connection.
    private(set) var clientSecret: String
    var counters = LinkCounters()

    var phase = Phase.idle
    var pending: PendingRequests
    var answers: RememberedAnswers
    /// Answers that could not be published when they were ready.
    var unsentAnswers: [(payload: [UInt8], deadline: NIODeadline)] = []
    /// The hub's time, ms since 1970, and when we learned it.
    var hubClock: (time: Int64, learnedAt: NIODeadline)?
    var hubReadsBatches = false
    /// The keys that verify the hub's tokens, from its newest answer to `session.begin`; `nil` if it contains none.
    var tokenKeys: TokenKeys?

    /// The move to the next connection.
    var handover: LinkHandover?
    var handoverRetry: NIODeadline?
    var handoverFailures = 0
    /// A new token came while the session could not move to a new connection.
    var hasUnusedToken = false
    var retiring: RetiringConnection?
    var usesAlternateID = false
    var renewal: TokenRenewal
    /// The claims of the present connection's token.
    var token: TokenClaims?
    /// The time of the input that is being handled.
    private(set) var present = NIODeadline.uptimeNanoseconds(0)

    var attempt = 0
    private var lastAttempt = 0
    private var backoff: FullJitterBackoff
    private var generator: any RandomNumberGenerator & Sendable
    private var outputs: [Output] = []

    init(
        principal: Principal, limits: LinkLimits, renewsToken: Bool = true,
        generator: any RandomNumberGenerator & Sendable, wall: Int64
    ) {
        self.principal = principal
        self.limits = limits
        self.generator = generator
        pending = PendingRequests(limits.pendingRequests, repeatInterval: limits.repeatInterval)
        renewal = TokenRenewal(isWanted: renewsToken)
        backoff = FullJitterBackoff(base: limits.backoffBase, cap: limits.backoffCap)
        answers = RememberedAnswers(
            lifetime: limits.answerMemory, maximumCount: limits.rememberedAnswers,
            maximumBytes: limits.rememberedAnswerBytes)
        status = LinkStatusChange(.unregistering, .notRegistered, since: wall)
        address = LinkAddress.random(principal, using: &self.generator)
        clientSecret = RequestID.random(using: &self.generator)
    }

    /// The latest time to call `handle` with `.timeout`.
    var nextDeadline: NIODeadline? {
        let timer: NIODeadline? =
            switch phase {
            case .idle, .finished: nil
            case .waiting(let until), .connecting(let until), .subscribing(let until), .leaving(let until): until
            case .beginning(let beginning): min(beginning.until, beginning.nextAsk)
            case .online(let online): min(online.nextHeartbeat, nextHandoverDeadline ?? .distantFuture)
            }
        guard let request = pending.earliestDeadline else { return timer }
        return min(timer ?? request, request)
    }

    /// - Parameter wall: ms since 1970 on our own clock.
    mutating func handle(_ input: Input, at now: NIODeadline, wall: Int64) -> [Output] {
        present = now
        switch input {
        case .register: register(at: now, wall: wall)
        case .unregister: unregister(wall: wall)
        case .tokenUpdated:
            if status.status == .tokenFailed {
                startRegistering(at: now, wall: wall)
            } else {
                handleNewToken(at: now, wall: wall)
            }
        case .stop: stop(at: now, wall: wall)
        case .timeout: handleTimeout(at: now, wall: wall)
        case .transport(let attempt, let event):
            switch attempt {
            case self.attempt: handle(event, at: now, wall: wall)
            case handover?.attempt: handleNext(event, at: now, wall: wall)
            case retiring?.attempt: handleRetired(event, at: now, wall: wall)
            default: break
            }
        case .tokenRead(let attempt, let claims):
            if attempt == self.attempt { use(claims, at: now, wall: wall) }
            if attempt == handover?.attempt { handover?.claims = claims }
        case .request(let request): add(request, at: now, wall: wall)
        case .cancel(let id): cancel(id)
        case .partlyAnswered(let key, let result): answerPartly(key, result, at: now)
        case .handled(let key, let outcome): finish(key, outcome, at: now)
        }
        defer { outputs = [] }
        return outputs
    }

    mutating func emit(_ output: Output) {
        // The session's own request for a new token.
        if case .complete(let id, let outcome) = output, id == renewal.request { return renewed(outcome) }
        outputs.append(output)
    }

    mutating func mintAttempt() -> Int {
        lastAttempt += 1
        return lastAttempt
    }

    mutating func mintID() -> String {
        RequestID.random(using: &generator)
    }

    // MARK: Registering and unregistering

    private mutating func register(at now: NIODeadline, wall: Int64) {
        switch phase {
        case .idle:
            // Each registration is a new session, so that the hub can distinguish it from one that reconnected.
            address = LinkAddress.random(principal, using: &generator)
            clientSecret = RequestID.random(using: &generator)
            usesAlternateID = false
            startRegistering(at: now, wall: wall)
        case .waiting:
            backoff.reset()
            connect(at: now)
        case .connecting, .subscribing, .beginning, .online, .leaving, .finished: break
        }
    }

    private mutating func startRegistering(at now: NIODeadline, wall: Int64) {
        backoff.reset()
        change(.registering, .registering, nil, wall: wall)
        connect(at: now)
    }

    private mutating func connect(at now: NIODeadline) {
        attempt = mintAttempt()
        hasUnusedToken = false
        phase = .connecting(until: now + limits.connectTimeout)
        emit(.connect(attempt: attempt, address))
    }

    private mutating func unregister(wall: Int64) {
        switch phase {
        case .leaving, .finished: return
        case .idle: if status.status == .unregistering { return }
        default: break
        }
        abandonHandover()
        endSession(wall: wall)
        rest(.unregistering, .unregistered, nil, wall: wall)
    }

    private mutating func stop(at now: NIODeadline, wall: Int64) {
        abandonHandover()
        switch phase {
        case .leaving, .finished: return
        case .idle, .waiting: phase = .finished
        case .connecting, .subscribing, .beginning, .online:
            endSession(wall: wall)
            phase = .leaving(until: now + limits.leaveTimeout)
        }
        let reason = IoTError(.stopping)
        change(.unregistering, .stopping, reason, wall: wall)
        failPending(reason)
        if case .finished = phase { emit(.finished) }
    }

    private mutating func endSession(wall: Int64) {
        switch phase {
        case .online:
            let push = SessionMethod.end.push(SessionEnding(.left), t: hubTime(at: present, wall: wall))
            publish(.push(push))
            emit(.disconnect)
        case .connecting, .subscribing, .beginning: emit(.disconnect)
        default: break
        }
    }

    // MARK: Events of the connection

    private mutating func handle(_ event: Transport, at now: NIODeadline, wall: Int64) {
        if case .malformed = event { counters.malformedEnvelopes += 1 }
        switch phase {
        case .idle, .waiting, .finished: return
        case .leaving:
            switch event {
            case .closed, .lost, .credentialsRefused, .tokenUnreadable: finishLeaving()
            default: break
            }
            return
        case .connecting, .subscribing, .beginning, .online: break
        }

        switch event {
        case .connected:
            guard case .connecting(let until) = phase else { return }
            phase = .subscribing(until: until)
            emit(.subscribe(filter: address.downTopic))
        case .subscribed(let granted):
            guard case .subscribing(let until) = phase else { return }
            guard granted else {
                let reason = IoTError(.forbidden, "the broker does not let \(principal) read its own topic")
                return goOffline(.refused, reason, at: now, wall: wall)
            }
            begin(
                Beginning(until: until, nextAsk: now, pause: limits.beginInterval), at: now, wall: wall)
        case .received(let envelope):
            if !receivedOnOld(envelope, at: now, wall: wall) { receive(envelope, at: now, wall: wall) }
        case .malformed: break
        case .tokenUnreadable(let reason): rest(.tokenFailed, .tokenUnreadable, reason, wall: wall)
        case .credentialsRefused(let reason): rest(.tokenFailed, .tokenRefused, reason, wall: wall)
        case .lost(let reason): goOffline(.connectionLost, reason, isConnected: false, at: now, wall: wall)
        case .closed:
            goOffline(
                .connectionLost, IoTError(.linkUnavailable, "the connection to the broker ended"), isConnected: false,
                at: now, wall: wall)
        }
    }

    private mutating func begin(_ attempt: Beginning, at now: NIODeadline, wall: Int64) {
        // It may be another hub.
        hubReadsBatches = false
        var beginning = attempt
        let id = mintID()
        beginning.newest = id
        beginning.sent[id] = now
        beginning.nextAsk = now + beginning.pause
        beginning.pause = beginning.pause * 2
        phase = .beginning(beginning)
        publish(
            request(
                id: id, SessionMethod.begin,
                SessionBeginning(session: address.session, connection: Int64(self.attempt)),
                deadline: beginning.until, at: now, wall: wall))
    }

    mutating func goOnline(at now: NIODeadline, wall: Int64) {
        phase = .online(Online(since: now, nextHeartbeat: now + limits.heartbeatInterval))
        counters.onlineCount += 1
        change(.online, .connected, nil, wall: wall)
        sendWaiting(at: now, wall: wall)
        if hasUnusedToken { startHandover(at: now) }
    }

    mutating func sendWaiting(at now: NIODeadline, wall: Int64) {
        for answer in unsentAnswers where answer.deadline > now { publish(answer.payload) }
        unsentAnswers = []
        sendPending(at: now, wall: wall)
    }

    /// Goes offline after a lost connection or a refusal, and reconnects later.
    mutating func goOffline(
        _ cause: LinkStatusChange.Cause, _ reason: IoTError, isConnected: Bool = true, at now: NIODeadline,
        wall: Int64
    ) {
        if case .online(let online) = phase {
            let time = now - online.since
            backoff.recover(halvings: time.nanoseconds / max(1, limits.backoffRecovery.nanoseconds))
        }
        abandonHandover()
        retiring = nil
        if isConnected { emit(.disconnect) }
        pending.connectionLost()
        phase = .waiting(until: now + backoff.next(using: &generator))
        change(.offline, cause, reason, wall: wall)
    }

    /// Ends the connection until the user registers again or replaces the token.
    mutating func rest(
        _ status: LinkStatus, _ cause: LinkStatusChange.Cause, _ reason: IoTError?, kick: LinkKickReason? = nil,
        wall: Int64
    ) {
        abandonHandover()
        retiring = nil
        switch (phase, cause) {
        // The connection has already ended or is ending.
        case (_, .unregistered), (_, .tokenUnreadable), (.idle, _), (.waiting, _): break
        default: emit(.disconnect)
        }
        phase = .idle
        unsentAnswers = []
        change(status, cause, reason, kick: kick, wall: wall)
        failPending(Self.unavailable(self.status))
    }

    private mutating func finishLeaving() {
        phase = .finished
        emit(.finished)
    }

    // MARK: Time

    private mutating func handleTimeout(at now: NIODeadline, wall: Int64) {
        handlePendingTimeout(at: now, wall: wall)
        switch phase {
        case .waiting(let until) where until <= now: connect(at: now)
        case .connecting(let until) where until <= now, .subscribing(let until) where until <= now:
            goOffline(.noAnswer, IoTError(.linkUnavailable, "the broker did not answer"), at: now, wall: wall)
        case .beginning(let beginning) where beginning.until <= now:
            goOffline(.noAnswer, IoTError(.linkUnavailable, "the hub did not answer"), at: now, wall: wall)
        case .beginning(let beginning) where beginning.nextAsk <= now: begin(beginning, at: now, wall: wall)
        case .online(let online) where online.nextHeartbeat <= now: heartbeat(online, at: now, wall: wall)
        case .leaving(let until) where until <= now: finishLeaving()
        default: break
        }
        if case .online = phase { handleHandoverTimeout(at: now, wall: wall) }
    }

    private mutating func heartbeat(_ last: Online, at now: NIODeadline, wall: Int64) {
        var online = last
        if online.heartbeat != nil { online.missed += 1 }
        guard online.missed < limits.heartbeatsMissed else {
            let reason = IoTError(.linkUnavailable, "the hub left \(online.missed) heartbeats unanswered")
            return goOffline(.noAnswer, reason, at: now, wall: wall)
        }
        let id = mintID()
        online.heartbeat = (id, now)
        online.nextHeartbeat = now + limits.heartbeatInterval
        phase = .online(online)
        publish(
            request(
                id: id, SessionMethod.heartbeat, SessionHeartbeat(), deadline: online.nextHeartbeat, at: now, wall: wall
            ))
    }

    // MARK: Status

    private mutating func change(
        _ status: LinkStatus, _ cause: LinkStatusChange.Cause, _ reason: IoTError?, kick: LinkKickReason? = nil,
        wall: Int64
    ) {
        let old = self.status
        guard
            old.status != status || old.cause != cause || old.reason?.code != reason?.code
                || old.reason?.message != reason?.message
        else { return }
        // Another reason for the same status keeps its start time.
        self.status = LinkStatusChange(
            status, cause, reason: reason, kick: kick, since: old.status == status ? old.since : wall)
        emit(.status(self.status))
    }

    static func unavailable(_ status: LinkStatusChange) -> IoTError {
        if status.cause == .stopping { return IoTError(.stopping) }
        return IoTError(.linkUnavailable, "the link is \(status)", underlying: status.reason)
    }
}
