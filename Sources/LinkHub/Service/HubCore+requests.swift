import IoTCore
import IoTLink
import NIOCore
import ThingModel

extension HubCore {
    /// How a request ends.
    enum Outcome {
        case answer(JSONValue)
        /// The answer comes later: from someone else, or from what the store holds.
        case forwarded
    }

    mutating func handle(
        _ request: LinkRequest, from address: LinkAddress, at time: HubTime, recall: (Int64) -> [UInt8]?
    ) {
        statistics.requests += 1
        let requester = HubTurn.Requester(address: address, request: request)
        turn.requester = requester
        if address.principal.kind == .enrolment {
            handleEnrolment(request, for: requester, at: time)
            return
        }
        if request.method == LinkMethod.begin {
            answer(requester, Result { () throws(IoTError) in try begin(request, from: address, at: time) })
            // Behind the answer: before it the session is not online.
            if standing(address) == .current {
                // It may never have heard them; what it did hear it does not carry out again.
                for bytes in forwards.envelopes(to: address) { turn.outputs.append(.message(address, bytes)) }
                tellEndings(to: address.principal, at: time)
            }
            return
        }
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
            if let replies = try repeated(requester, at: time, recall: recall) {
                statistics.repeatedRequests += 1
                for bytes in replies { turn.outputs.append(.message(address, bytes)) }
                return
            }
        } catch {
            // Not remembered: the id stays the first request's.
            answer(requester, .failure(error))
            return
        }
        switch request.method {
        case LinkMethod.heartbeat:
            sessions.noteConnection(request.params["connection"]?.integerValue, of: address.principal)
            answer(requester, .success(["t": .integer(time.wall)]))
        case LinkMethod.end:
            answer(requester, .success([:]))
            endSession(address.principal, at: time)
        default: execute(request, for: requester, at: time)
        }
    }

    /// What was answered so far to the same request; `nil` for a new one.
    ///
    /// - Throws: 25028 for an id that came with another request.
    private mutating func repeated(
        _ requester: HubTurn.Requester, at time: HubTime, recall: (Int64) -> [UInt8]?
    ) throws(IoTError) -> [[UInt8]]? {
        if let answer = recent.answer(requester.key, at: time.wall) {
            try requester.content.check(isRepeatOf: answer.content)
            return answer.replies
        }
        if let place = state.answers[requester.key], let reply = recall(place.number) {
            try requester.content.check(isRepeatOf: place.content)
            return [reply]
        }
        return try forwards.redirect(requester)
    }

    private mutating func execute(_ request: LinkRequest, for requester: HubTurn.Requester, at time: HubTime) {
        guard time.wall < request.deadline else {
            // Not remembered: who asks again, with another deadline, is to have it carried out.
            let refusal = IoTError(.messageTimeout, "the request came after its deadline and was not carried out")
            answer(requester, .failure(refusal))
            return
        }
        do throws(IoTError) {
            switch try perform(request, for: requester, at: time) {
            case .forwarded: return
            case .answer(let result): finish(requester, request.method, .success(result), at: time)
            }
        } catch {
            finish(requester, request.method, .failure(error), at: time)
        }
    }

    private mutating func perform(
        _ request: LinkRequest, for requester: HubTurn.Requester, at time: HubTime
    ) throws(IoTError) -> Outcome {
        let parameters = RequestParameters(request: request)
        if let name = request.actingAs { try checkActing(as: name, requester.address.principal) }
        let permit = try judge(parameters, requester)
        let outcome =
            if let device = requester.actor.deviceID {
                try performForDevice(parameters, permit, device, at: time)
            } else {
                try performForUser(parameters, permit, at: time)
            }
        guard let outcome else {
            throw IoTError(.invalidRequest, "the hub knows no method '\(request.method)' for \(permit.actor.kind.noun)")
        }
        return outcome
    }

    /// The table of rights has let the request through; methods that concern several devices look at each themselves.
    private mutating func performForUser(
        _ parameters: RequestParameters, _ permit: HubPermit, at time: HubTime
    ) throws(IoTError) -> Outcome? {
        switch parameters.request.method {
        case "property.write": .answer(try writeProperty(parameters, try permit.target(), at: time))
        case "property.read": .answer(try readProperty(parameters, try permit.target()))
        case "userProperty.add": .answer(try addUserProperty(parameters, try permit.target(), at: time))
        case "userProperty.delete": .answer(try deleteUserProperty(parameters, try permit.target()))
        case "action.take": try takeAction(parameters, permit, at: time)
        case "device.list": .answer(try listDevices(of: try permit.account(), parameters))
        case "device.show": .answer(showDevice(try permit.target(), permit))
        case "call.token": .answer(try issueCallToken(parameters, permit, at: time))
        case "call.connect": try connectCall(parameters, permit, at: time)
        case "call.control", "call.trickle", "call.end": try passOn(parameters, permit, at: time)
        default: try performAdministration(parameters, permit, at: time)
        }
    }

    private mutating func performAdministration(
        _ parameters: RequestParameters, _ permit: HubPermit, at time: HubTime
    ) throws(IoTError) -> Outcome? {
        switch parameters.request.method {
        case "user.list": return .answer(try listUsers(parameters))
        case "user.create": return .answer(try createUser(parameters, at: time))
        case "user.createTemporary": return .answer(try createTemporaryUser(parameters, permit, at: time))
        case "user.remove": return .answer(try removeUser(parameters, permit, at: time))
        case "device.create": return .answer(try createDevice(parameters, at: time))
        case "device.rename": return .answer(try renameDevice(parameters, permit, at: time))
        case "device.remove":
            try removeDevice(try permit.target(), at: time)
            return .answer([:])
        case "device.bind": return .answer(try bindDevice(parameters, permit, at: time))
        case "device.unbind": return .answer(try unbindDevice(permit, at: time))
        case "device.share": return .answer(try shareDevice(parameters, permit, at: time))
        case "device.subscribe": return .answer(try subscribe(parameters, permit, at: time))
        case "device.users": return .answer(listUsers(of: try permit.target()))
        case "token.create": return .answer(try createToken(parameters, permit, at: time))
        case "token.createAPI": return .answer(try createAPIToken(parameters, permit, at: time))
        case "token.enrol": return .answer(try createEnrolment(parameters, permit, at: time))
        case "token.list": return .answer(try listTokens(parameters, permit))
        case "token.revoke":
            try revokeToken(try parameters.text("id"), at: time)
            return .answer([:])
        case "token.renew": return .answer(try renewToken(parameters, permit, at: time))
        case "token.check": return .answer(try checkToken(parameters, at: time))
        case "token.keys": return .answer(authority.key.publicSet)
        case "key.create": return .answer(try createKey(parameters, permit, at: time))
        case "key.list": return .answer(try listKeys(parameters, permit))
        case "key.revoke": return .answer(try revokeKey(parameters))
        case "key.check": return .answer(try checkKey(parameters, at: time))
        default: return try performMessage(parameters, permit, at: time)
        }
    }

    private mutating func performForDevice(
        _ parameters: RequestParameters, _ permit: HubPermit, _ device: DeviceID, at time: HubTime
    ) throws(IoTError) -> Outcome? {
        switch parameters.request.method {
        case "model.login": .answer(try login(parameters, device, at: time))
        case "model.report": .answer(try report(parameters, device, at: time))
        case "model.applied": .answer(try noteApplied(parameters, device))
        case "token.renew": .answer(try renewToken(parameters, permit, at: time))
        case EventMethod.report: .answer(try reportEvent(parameters, device, at: time))
        case MessageMethod.push: .answer(try pushData(parameters, device, at: time))
        case "call.trickle", "call.end", "call.invite": try passOn(parameters, permit, at: time)
        default: nil
        }
    }

    /// Only an administrator's session may ask in another's name, and then has that one's rights, not its own.
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

    /// Methods whose success must be remembered over a restart, in the transaction of their change. Those whose answer
    /// holds a secret are not among them: it would be kept on the disk.
    private static let durableMethods: Set<String> = [
        "property.write", "userProperty.add", "userProperty.delete", "action.take", "model.report", "user.create",
        "user.remove", "device.create", "device.rename", "device.remove", "device.bind", "device.unbind",
        "device.subscribe",
        "token.revoke", "key.revoke", EventMethod.report, EventMethod.delete,
    ]

    /// Answers, and remembers the answer for a repeat.
    mutating func finish(
        _ requester: HubTurn.Requester, _ method: String, _ outcome: Result<JSONValue, IoTError>, at time: HubTime
    ) {
        guard let bytes = answer(requester, outcome) else { return }
        let key = requester.key
        if case .success = outcome, Self.durableMethods.contains(method) {
            let actor = requester.actor
            let number = state.answers.add(key, requester.content, of: actor, size: bytes.count, at: time.wall)
            turn.changes.append(
                .answer(number: number, key, requester.content, of: actor, at: time.wall, reply: bytes))
            forgetAnswers()
        } else {
            recent.add(key, requester.content, [bytes], of: requester.actor, at: time.wall)
        }
    }

    /// Lets the store forget what is forgotten.
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
