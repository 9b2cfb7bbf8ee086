import IoTCore
import IoTLink
import NIOCore
import ThingModel

extension HubCore {
    /// The outcome of a request.
    enum Outcome {
        case answer(JSONValue)
        /// The answer comes later: from another principal, or from the store.
        case forwarded
    }

    mutating func handle(
        _ request: LinkRequest, from address: LinkAddress, at time: HubTime
    ) {
        statistics.requests += 1
        let requester = requester(of: request, from: address)
        turn.requester = requester
        if address.principal.kind == .enrolment {
            handleEnrolment(request, for: requester, at: time)
            return
        }
        if request.method == SessionMethod.begin.name {
            answer(
                requester,
                Result { () throws(IoTError) in
                    try begin(try SessionMethod.begin.parameters(of: request), from: address, at: time).json
                })
            // Runs after the reply: until then the session is not online.
            if standing(address) == .current {
                // The session may not have received these. It does not carry out a request twice.
                for bytes in forwards.envelopes(to: address) { turn.outputs.append(.message(address, bytes)) }
                tellEndings(to: address.principal, at: time)
            }
            return
        }
        take(request, of: requester, at: time)
    }

    /// - Parameter forgotten: The number of a stored answer that the store no longer has.
    private mutating func take(
        _ request: LinkRequest, of requester: HubTurn.Requester, forgotten: Int64? = nil, at time: HubTime
    ) {
        let address = requester.address
        switch standing(address) {
        case .current: sessions.heard(address, silentUntil: time.monotonic + limits.sessionSilence)
        case .superseded:
            statistics.ignoredMessages += 1
            return
        case .unknown:
            answer(requester, .failure(IoTError(.linkUnavailable, "this session is not registered: begin it first")))
            return
        }
        do throws(IoTError) {
            if try answerRepeat(request, of: requester, forgotten: forgotten, at: time) { return }
        } catch {
            // Not remembered, because the id belongs to the first request.
            answer(requester, .failure(error))
            return
        }
        switch request.method {
        case SessionMethod.heartbeat.name:
            answer(
                requester,
                Result { () throws(IoTError) in
                    let heartbeat = try SessionMethod.heartbeat.parameters(of: request)
                    sessions.noteConnection(heartbeat.connection, of: address.principal)
                    return SessionTime(t: time.wall).json
                })
        case SessionMethod.end.name:
            answer(requester, .success(LinkNothing().json))
            endSession(address.principal, at: time)
        default: execute(request, for: requester, at: time)
        }
    }

    func requester(of request: LinkRequest, from address: LinkAddress) -> HubTurn.Requester {
        HubTurn.Requester(
            address: address, request: request, isDurable: methods[request.method]?.row.isDurable ?? false)
    }

    /// Answers a repeated request, or asks the store for the answer.
    ///
    /// - Returns: False for a new request.
    /// - Throws: 25028 if the id belongs to a different request.
    private mutating func answerRepeat(
        _ request: LinkRequest, of requester: HubTurn.Requester, forgotten: Int64?, at time: HubTime
    ) throws(IoTError) -> Bool {
        if let answer = recent.answer(requester.key, at: time.wall) {
            try requester.content.check(isRepeatOf: answer.content)
            repeatAnswer(answer.replies, to: requester.address)
        } else if let place = state.answers[requester.key], place.number != forgotten {
            try requester.content.check(isRepeatOf: place.content)
            turn.query = .answer(number: place.number, to: request, from: requester.address)
        } else if let first = asked[requester.key] {
            try requester.content.check(isRepeatOf: first.content)
            asked[requester.key] = requester
        } else if let (parts, again) = try forwards.redirect(requester, at: time.monotonic) {
            repeatAnswer(parts, to: requester.address)
            // The target knows the id, so it carries the request out only once.
            if let again { turn.outputs.append(.message(again.target, again.envelope)) }
        } else {
            return false
        }
        return true
    }

    private mutating func repeatAnswer(_ replies: [[UInt8]], to address: LinkAddress) {
        statistics.repeatedRequests += 1
        for bytes in replies { turn.outputs.append(.message(address, bytes)) }
    }

    /// Finishes the turn of a repeated request. If the store has forgotten the answer, the request is carried out,
    /// unless another repeat was in the meantime. If the store cannot read the answer, it is not, because that would be
    /// the second time.
    mutating func conclude(
        _ stored: Result<[UInt8]?, IoTError>, _ number: Int64, to request: LinkRequest, from address: LinkAddress,
        at time: HubTime
    ) {
        let requester = requester(of: request, from: address)
        turn.requester = requester
        switch stored {
        case .success(let reply?): repeatAnswer([reply], to: address)
        case .success(nil): take(request, of: requester, forgotten: number, at: time)
        case .failure(let error): answer(requester, .failure(error))
        }
    }

    private mutating func execute(_ request: LinkRequest, for requester: HubTurn.Requester, at time: HubTime) {
        guard time.wall < request.deadline else {
            // Not remembered: a repeat with another deadline must be carried out.
            let refusal = IoTError(.messageTimeout, "the request came after its deadline and was not carried out")
            answer(requester, .failure(refusal))
            return
        }
        do throws(IoTError) {
            switch try perform(request, for: requester, at: time) {
            case .forwarded: return
            case .answer(let result): finish(requester, .success(result), at: time)
            }
        } catch {
            finish(requester, .failure(error), at: time)
        }
    }

    private mutating func perform(
        _ request: LinkRequest, for requester: HubTurn.Requester, at time: HubTime
    ) throws(IoTError) -> Outcome {
        if let name = request.actingAs { try checkActing(as: name, requester.address.principal) }
        let (method, right) = try methods.find(request.method, for: requester.actor.kind)
        let permit = try judge(request, method.row, right, requester)
        return try method.perform(&self, request, permit, time)
    }

    /// Only an administrator's session may ask in another account's name. It then has that account's rights, not its
    /// own.
    private func checkActing(as name: Principal, _ asker: Principal) throws(IoTError) {
        guard isAdministrator(asker) else {
            throw IoTError(
                .forbidden, "only an administrator may ask in another's name", remedy: "ask in your own name")
        }
        guard let user = name.accessID, state.users[user] != nil else {
            throw IoTError(
                .targetNotFound, "there is no account \(name) to ask for", remedy: Principal.Kind.user.listing)
        }
    }

    // MARK: Answers

    /// Answers, and remembers the answer for a repeat.
    mutating func finish(
        _ requester: HubTurn.Requester, _ outcome: Result<JSONValue, IoTError>, at time: HubTime
    ) {
        guard let bytes = answer(requester, outcome) else { return }
        let key = requester.key
        if case .success = outcome, requester.isDurable {
            let actor = requester.actor
            let number = state.answers.add(key, requester.content, of: actor, size: bytes.count, at: time.wall)
            turn.changes.append(
                .answer(number: number, key, requester.content, of: actor, at: time.wall, reply: bytes))
            forgetAnswers()
        } else {
            recent.add(key, requester.content, [bytes], of: requester.actor, at: time.wall)
        }
    }

    /// Makes the store forget the answers that the index has forgotten.
    mutating func forgetAnswers() {
        let numbers = state.answers.takeForgotten()
        if !numbers.isEmpty { turn.changes.append(.forgetAnswers(numbers)) }
    }

    @discardableResult
    mutating func answer(_ requester: HubTurn.Requester, _ outcome: Result<JSONValue, IoTError>) -> [UInt8]? {
        do {
            let bytes = try Envelope.reply(LinkReply(id: requester.id, outcome: outcome)).serialized()
            turn.outputs.append(.message(requester.address, bytes))
            return bytes
        } catch {
            send(.reply(LinkReply(id: requester.id, error: error)), to: requester.address)
            return nil
        }
    }
}
