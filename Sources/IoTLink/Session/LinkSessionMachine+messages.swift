import IoTCore
import NIOCore

// Our requests and their answers, and the requests of others.
extension LinkSessionMachine {
    private var isOnline: Bool {
        if case .online = phase { true } else { false }
    }

    /// New messages wait until the old connection has sent its own.
    private var canSend: Bool { isOnline && retiring == nil }

    // MARK: Our requests

    mutating func add(_ request: PendingRequests.Entry, at now: NIODeadline, wall: Int64) {
        if let error = refusal(of: request) {
            return emit(.complete(id: request.id, .failure(error)))
        }
        do throws(IoTError) {
            try pending.add(request)
        } catch {
            return emit(.complete(id: request.id, .failure(error)))
        }
        if canSend { send(request, at: now, wall: wall) }
    }

    private func refusal(of request: PendingRequests.Entry) -> IoTError? {
        switch phase {
        case .leaving, .finished: return IoTError(.stopping)
        case .idle: return Self.unavailable(status)
        case .waiting, .connecting, .subscribing, .beginning, .online: break
        }
        guard pending[request.id] == nil else { return IoTError(.duplicateMessage) }
        return nil
    }

    mutating func sendPending(at now: NIODeadline, wall: Int64) {
        for entry in pending.unsent {
            if entry.wasSentBefore { counters.resentRequests += 1 }
            send(entry, at: now, wall: wall)
        }
    }

    private mutating func send(_ entry: PendingRequests.Entry, at now: NIODeadline, wall: Int64) {
        let envelope = request(
            id: entry.id, entry.method, entry.params, actingAs: entry.actingAs, deadline: entry.deadline, at: now,
            wall: wall)
        do throws(IoTError) {
            publish(try envelope.serialized())
            pending.markSent(entry.id, at: now)
        } catch {
            complete(entry.id, .failure(error))
        }
    }

    mutating func cancel(_ id: String) {
        guard let entry = pending[id] else { return }
        // Who answers need not go on.
        if entry.takesMany, entry.isSent, canSend {
            publish(.push(SessionMethod.finish.push(FinishedRequest(id: id))))
        }
        complete(
            id, .failure(IoTError(.sendFailed, "the caller cancelled the request", underlying: CancellationError())))
    }

    private mutating func complete(_ id: String, _ outcome: Result<JSONValue, IoTError>) {
        pending.remove(id)
        emit(.complete(id: id, outcome))
    }

    mutating func failPending(_ error: IoTError) {
        for entry in pending.takeAll() { emit(.complete(id: entry.id, .failure(error))) }
    }

    /// Fails requests past their deadline, and resends those without an answer, because an overloaded broker drops
    /// messages. The hub executes a resent request only once, because it has the same id.
    mutating func handlePendingTimeout(at now: NIODeadline, wall: Int64) {
        let due = pending.takeDue(at: now)
        for entry in due.expired {
            let detail = isOnline ? nil : "no answer came in time: the link is \(status)"
            emit(.complete(id: entry.id, .failure(IoTError(.messageTimeout, detail, underlying: status.reason))))
        }
        guard canSend else { return }
        for entry in due.unanswered {
            counters.repeatedOwnRequests += 1
            send(entry, at: now, wall: wall)
        }
    }

    // MARK: Received messages

    mutating func receive(_ envelope: Envelope, at now: NIODeadline, wall: Int64) {
        switch envelope {
        case .push(let push):
            guard let kick = SessionMethod.kick.parameters(of: push) else {
                if let notice = DeviceMethod.owned.parameters(of: push) { emit(.ownership(notice.ownership)) }
                if let notice = LANMethod.withdrawn.parameters(of: push) { emit(.rightsWithdrawn(notice)) }
                if let request = SessionMethod.finish.parameters(of: push) {
                    emit(.finish(RememberedAnswers.Key(from: request.from, id: request.id)))
                }
                return emit(.push(push))
            }
            rest(.kickOff, .kicked, kick.reason.error(word: kick.word), kick: kick.reason, wall: wall)
        case .reply(let reply): receive(reply, at: now, wall: wall)
        case .request(let request):
            if isOnline { receive(request, at: now, wall: wall) }
        }
    }

    private mutating func receive(_ reply: LinkReply, at now: NIODeadline, wall: Int64) {
        switch phase {
        case .beginning(let beginning):
            guard let sentAt = beginning.sent[reply.id] else { return deliver(reply, at: now, wall: wall) }
            guard accept(reply, at: now, wall: wall) else { return }
            if let begun = try? SessionMethod.begin.result(reply.result) {
                learnClock(begun.time, sentAt: sentAt, at: now, wall: wall)
                hubReadsBatches = begun.batches
                // Unreadable keys reject every token; absent keys are `nil`.
                tokenKeys = begun.tokenKeys.map { TokenKeys(jwkSet: $0) ?? .none }
                if let ownership = begun.ownership { emit(.ownership(ownership)) }
                if let keys = begun.tokenKeys, let ended = begun.grantsEnded {
                    emit(.grantTrust(GrantTrust(keys: keys, ended: ended)))
                }
            }
            goOnline(at: now, wall: wall)
        case .online(var online) where online.heartbeat?.id == reply.id:
            guard accept(reply, at: now, wall: wall) else { return }
            if let sentAt = online.heartbeat?.sentAt { learnClock(reply, sentAt: sentAt, at: now, wall: wall) }
            online.heartbeat = nil
            online.missed = 0
            phase = .online(online)
        default: deliver(reply, at: now, wall: wall)
        }
    }

    /// Returns whether the hub accepted a `session.begin` or a heartbeat. If not, the session goes offline or ends.
    mutating func accept(_ reply: LinkReply, at now: NIODeadline, wall: Int64) -> Bool {
        guard case .failure(let error) = reply.outcome else { return true }
        if error.code == .tokenRejected || error.code == .unauthenticated {
            rest(.tokenFailed, .tokenRefused, error, wall: wall)
        } else {
            goOffline(.refused, error, at: now, wall: wall)
        }
        return false
    }

    /// Learns the hub's clock. Deadlines are on that clock, so that a device with a wrong clock works.
    ///
    /// The hub's time is assumed to be from the middle of the round trip. It is ignored if the known offset already
    /// fits the round trip.
    mutating func learnClock(_ time: SessionTime, sentAt: NIODeadline, at now: NIODeadline, wall: Int64) {
        // Up to the year 9999, so that arithmetic on it cannot overflow.
        guard let t = time.t, (0...253_402_300_799_999).contains(t) else { return }
        renewal.learn(hubTime: t, at: now)
        let roundTrip = (now - sentAt).nanoseconds / 1_000_000
        let known = hubTime(at: now, wall: wall)
        let isInside = known >= t && known <= t + roundTrip
        if !isInside { hubClock = (t + roundTrip / 2, now) } else if hubClock == nil { hubClock = (known, now) }
    }

    /// The time on the hub's clock, ms since 1970. Since its last answer the monotonic clock counts, because our wall
    /// clock may be set.
    ///
    /// - Parameter wall: our own clock, which is used before the first answer.
    func hubTime(at now: NIODeadline, wall: Int64) -> Int64 {
        hubClock.map { $0.time + (now - $0.learnedAt).nanoseconds / 1_000_000 } ?? wall
    }

    /// Learns the hub's clock from the answer to a heartbeat.
    mutating func learnClock(_ reply: LinkReply, sentAt: NIODeadline, at now: NIODeadline, wall: Int64) {
        guard let time = try? SessionMethod.heartbeat.result(reply.result) else { return }
        learnClock(time, sentAt: sentAt, at: now, wall: wall)
    }

    private mutating func deliver(_ reply: LinkReply, at now: NIODeadline, wall: Int64) {
        guard var entry = pending[reply.id] else {
            counters.unexpectedReplies += 1
            return
        }
        // The hub forgot the session, for example after a long silence: begin it again and resend the request, once.
        if reply.code == .linkUnavailable, !entry.wasDisowned, case .failure(let reason) = reply.outcome {
            entry.wasDisowned = true
            pending.update(entry)
            return goOffline(.refused, reason, at: now, wall: wall)
        }
        if let place = reply.seq {
            // After a resend the first answers may arrive again.
            guard place >= entry.nextPlace else {
                counters.unexpectedReplies += 1
                return
            }
            guard place == entry.nextPlace || !entry.takesMany else {
                return complete(reply.id, .failure(IoTError(.sendFailed, "one of several answers was lost")))
            }
            entry.nextPlace = place &+ 1
            pending.update(entry)
        }
        guard reply.final || reply.code != .success else {
            if entry.takesMany { emit(.answer(id: reply.id, reply.result)) }
            return
        }
        complete(reply.id, reply.outcome)
    }

    // MARK: Requests of others

    private mutating func receive(_ request: LinkRequest, at now: NIODeadline, wall: Int64) {
        let key = RememberedAnswers.Key(from: request.from, id: request.id)
        switch answers.state(of: key, at: now) {
        case .running(_, let parts):
            counters.repeatedRequests += 1
            return parts.forEach { publish($0) }
        case .answered(let payloads):
            counters.repeatedRequests += 1
            return payloads.forEach { publish($0) }
        case nil: break
        }
        let (left, overflow) = request.deadline.subtractingReportingOverflow(hubTime(at: now, wall: wall))
        guard left > 0, !overflow else {
            counters.expiredRequests += 1
            return
        }
        guard answers.runningCount < limits.runningRequests else {
            // The refusal is not remembered, so that a repeat may be accepted.
            counters.refusedRequests += 1
            return publish(.reply(LinkReply(id: request.id, error: IoTError(.tooManyRequests))))
        }
        // The deadline is limited to the time that the answer is remembered.
        let deadline = now + min(.milliseconds(min(left, 86_400_000)), limits.answerMemory)
        answers.begin(key, deadline: deadline)
        emit(.execute(key, request, deadline: deadline))
    }

    mutating func finish(_ key: RememberedAnswers.Key, _ outcome: Result<JSONValue, IoTError>, at now: NIODeadline) {
        var reply = LinkReply(id: key.id, outcome: outcome)
        if let place = answers.nextPlace(of: key), place > 0 { reply.seq = place }
        // On the wire, 21025 means that the hub does not know the session. Only the hub may send it.
        if reply.code == .linkUnavailable { reply.code = .internalFailure }
        let payload = Self.serialize(reply)
        guard let deadline = answers.finish(key, answer: payload, at: now) else { return }
        sendAnswer(payload, deadline: deadline, at: now)
    }

    func hasRoomForAnswer(_ key: RememberedAnswers.Key) -> Bool? {
        answers.nextPlace(of: key).map { $0 < limits.answersPerRequest }
    }

    mutating func answerPartly(_ key: RememberedAnswers.Key, _ result: JSONValue, at now: NIODeadline) {
        guard let place = answers.nextPlace(of: key), hasRoomForAnswer(key) == true else { return }
        let payload = Self.serialize(LinkReply(id: key.id, result: result, seq: place, final: false))
        guard let deadline = answers.addPart(key, payload) else { return }
        sendAnswer(payload, deadline: deadline, at: now)
    }

    private mutating func sendAnswer(_ payload: [UInt8], deadline: NIODeadline, at now: NIODeadline) {
        guard deadline > now else { return }
        switch phase {
        case .online where retiring == nil: publish(payload)
        case .online, .waiting, .connecting, .subscribing, .beginning: unsentAnswers.append((payload, deadline))
        case .idle, .leaving, .finished: break
        }
    }

    private static func serialize(_ reply: LinkReply) -> [UInt8] {
        do throws(IoTError) {
            return try Envelope.reply(reply).serialized()
        } catch {
            return LinkReply(id: reply.id, error: error).json.jsonBytes
        }
    }

    // MARK: Publishing

    func request<Parameters, Result>(
        id: String, _ method: LinkMethod<Parameters, Result>, _ parameters: Parameters, deadline: NIODeadline,
        at now: NIODeadline, wall: Int64
    ) -> Envelope {
        request(id: id, method.name, parameters.json, deadline: deadline, at: now, wall: wall)
    }

    private func request(
        id: String, _ method: String, _ params: JSONValue, actingAs: Principal? = nil, deadline: NIODeadline,
        at now: NIODeadline, wall: Int64
    ) -> Envelope {
        let t = hubTime(at: now, wall: wall)
        let left = max(deadline - now, .zero).nanoseconds / 1_000_000
        return .request(
            LinkRequest(id: id, method: method, actingAs: actingAs, params: params, t: t, deadline: t &+ left))
    }

    /// Publishes one of the link's own envelopes, which are never too large.
    mutating func publish(_ envelope: Envelope) {
        guard let payload = try? envelope.serialized() else { return }
        publish(payload)
    }

    mutating func publish(_ payload: [UInt8]) {
        emit(.publish(topic: address.upTopic, payload: payload, isJoinable: hubReadsBatches))
    }
}
