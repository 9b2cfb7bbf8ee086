import IoTCore
import IoTLink
import NIOCore

extension HubCore {
    /// How a request ends.
    enum Outcome {
        case answer(JSONValue)
        /// The answer comes from someone else.
        case forwarded
    }

    mutating func handle(
        _ request: LinkRequest, from address: LinkAddress, at time: HubTime, recall: (Int64) -> [UInt8]?
    ) {
        statistics.requests += 1
        let requester = HubTurn.Requester(address: address, id: request.id)
        turn.requester = requester
        guard takeRate(address.principal, at: time) else {
            statistics.refusedRequests += 1
            answer(requester, .failure(IoTError(.tooManyRequests, "too many requests a second: wait a moment")))
            return
        }
        if request.method == LinkMethod.begin {
            answer(requester, Result { () throws(IoTError) in try begin(request, from: address, at: time) })
            return
        }
        switch sessions.standing(address) {
        case .current: sessions.heard(address, silentUntil: time.monotonic + limits.sessionSilence)
        case .superseded:
            statistics.ignoredMessages += 1
            return
        case .unknown:
            answer(requester, .failure(IoTError(.linkUnavailable, "this session is not registered: begin it first")))
            return
        }
        let key = AnswerIndex.Key(principal: address.principal, id: request.id)
        if let bytes = recent.answer(key, at: time.wall) ?? state.answers[key].flatMap(recall) {
            statistics.repeatedRequests += 1
            turn.outputs.append(.message(address, bytes))
            return
        }
        if forwards.redirect(requester) {
            statistics.repeatedRequests += 1
            return
        }
        switch request.method {
        case LinkMethod.heartbeat: answer(requester, .success(["t": .integer(time.wall)]))
        case LinkMethod.end:
            answer(requester, .success([:]))
            endSession(address.principal, at: time)
        default: execute(request, for: requester, at: time)
        }
    }

    private mutating func execute(_ request: LinkRequest, for requester: HubTurn.Requester, at time: HubTime) {
        do throws(IoTError) {
            guard time.wall < request.deadline else {
                throw IoTError(.messageTimeout, "the request came after its deadline and was not carried out")
            }
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
        let principal = requester.address.principal
        if let user = principal.accessID {
            switch request.method {
            case "device.list": return .answer(listDevices(of: user))
            case "device.show": return .answer(try showDevice(parameters, user))
            case "property.read": return .answer(try readProperty(parameters, user))
            case "property.write": return .answer(try writeProperty(parameters, user, at: time))
            case "userProperty.add": return .answer(try addUserProperty(parameters, user, at: time))
            case "userProperty.delete": return .answer(try deleteUserProperty(parameters, user))
            case "action.take": return try takeAction(parameters, user, for: requester, at: time)
            case "call.token": return .answer(try issueCallToken(parameters, user, at: time))
            case "call.connect": return try connectCall(parameters, user, for: requester, at: time)
            case "call.control", "call.trickle", "call.end": return try passOn(parameters, for: requester, at: time)
            default: break
            }
        } else if let device = principal.deviceID {
            switch request.method {
            case "model.login": return .answer(try login(parameters, device, at: time))
            case "model.report": return .answer(try report(parameters, device, at: time))
            case "model.applied": return .answer(try noteApplied(parameters, device))
            case "call.trickle", "call.end", "call.invite":
                return try passOn(parameters, for: requester, at: time)
            default: break
            }
        }
        throw IoTError(
            .invalidRequest,
            "the hub knows no method '\(request.method)' for a \(principal.kind == .user ? "user" : "device")")
    }

    // MARK: Answers

    /// Methods whose success must be remembered over a restart, in the transaction of their change.
    private static let durableMethods: Set<String> = [
        "property.write", "userProperty.add", "userProperty.delete", "action.take", "model.report",
    ]

    /// Answers, and remembers the answer for a repeat.
    mutating func finish(
        _ requester: HubTurn.Requester, _ method: String, _ outcome: Result<JSONValue, IoTError>, at time: HubTime
    ) {
        guard let bytes = answer(requester, outcome) else { return }
        let key = AnswerIndex.Key(principal: requester.address.principal, id: requester.id)
        if case .success = outcome, Self.durableMethods.contains(method) {
            let number = state.answers.add(key, at: time.wall)
            turn.changes.append(.answer(number: number, key, at: time.wall, reply: bytes))
        } else {
            recent.add(key, bytes, at: time.wall)
        }
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

    private mutating func takeRate(_ principal: Principal, at time: HubTime) -> Bool {
        let perSecond = limits.requestsPerSecond
        return rates[principal, default: RequestRate(perSecond: perSecond, at: time.monotonic)]
            .take(perSecond: perSecond, at: time.monotonic)
    }

    // MARK: Who may

    /// The device that a request names by id or name, and the user's role there.
    ///
    /// Throws 8002 when there is none, 8003 when it is not the user's. A name of somebody else's device does not exist.
    func target(
        _ parameters: RequestParameters, _ user: AccessID
    ) throws(IoTError) -> (device: DeviceID, role: BindingRole) {
        let text = try parameters.text("device")
        if let device = DeviceID(rawValue: text) {
            guard state.devices[device] != nil else { throw IoTError(.targetNotFound, "there is no device \(text)") }
            guard let role = state.roles[device]?[user] else { throw IoTError(.relationInvalid) }
            return (device, role)
        }
        guard let device = state.names[text], let role = state.roles[device]?[user] else {
            throw IoTError(.targetNotFound, "there is no device '\(text.prefix(64))'")
        }
        return (device, role)
    }

    /// The same, for what only owners may do.
    func ownedTarget(_ parameters: RequestParameters, _ user: AccessID) throws(IoTError) -> DeviceID {
        let (device, role) = try target(parameters, user)
        guard role == .owner else {
            throw IoTError(.relationInvalid, "a guest may read and watch this device; its owner may change it")
        }
        return device
    }
}
