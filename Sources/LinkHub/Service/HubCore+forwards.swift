import IoTCore
import IoTLink
import NIOCore
import ThingModel

extension HubCore {
    /// Forwards a request unchanged to a device or user, and adds its requester.
    mutating func forward<Parameters>(
        _ call: HubCall<Parameters>, _ params: JSONValue, to target: LinkAddress, purpose: Forward.Purpose
    ) throws(IoTError) -> Outcome {
        try forward(
            call, as: LinkMethod<JSONValue, JSONValue>(call.permit.row.name), params, to: target, purpose: purpose)
    }

    /// Forwards a request as another method, or with other parameters.
    ///
    /// - Parameter timeout: How long the requester lets the target take, in ms; `nil` for until the request's deadline.
    mutating func forward<Parameters, Sent, Answered>(
        _ call: HubCall<Parameters>, as method: LinkMethod<Sent, Answered>, _ params: Sent, to target: LinkAddress,
        purpose: Forward.Purpose, timeout: Int64? = nil
    ) throws(IoTError) -> Outcome {
        let (requester, time) = (call.permit.requester, call.time)
        let deadline = try Self.deadline(of: call, timeout: timeout)
        try checkRoom(forForwardOf: requester.actor, to: target.principal)
        let id = Self.forwardID(requester)
        let forwarded = LinkRequest(
            id: id, method: method.name, from: requester.actor, params: params.json, t: time.wall,
            deadline: deadline)
        let bytes = try Envelope.request(forwarded).serialized()
        turn.outputs.append(.message(target, bytes))
        forwards.add(
            Forward(
                id: id, target: target, requester: requester,
                deadline: time.monotonic + .milliseconds(deadline - time.wall), purpose: purpose, envelope: bytes,
                sentAt: time.monotonic))
        return .forwarded
    }

    /// Until when the hub waits, in ms since 1970: for `timeout`, if there is one, and never past the request's
    /// deadline.
    ///
    /// - Throws: 25001 if this is more than the method's longest deadline, because the hub would give up earlier.
    private static func deadline<Parameters>(
        of call: HubCall<Parameters>, timeout: Int64?
    ) throws(IoTError) -> Int64 {
        let (now, row) = (call.time.wall, call.permit.row)
        let longest = (row.longestDeadline ?? .zero) / .milliseconds(1)
        let wanted = max(1, timeout ?? (call.request.deadline - now))
        guard Double(wanted) <= longest else {
            let member = timeout == nil ? "the deadline is" : "'timeoutMilliseconds' says"
            throw IoTError(
                .invalidRequest, "\(row.name): \(member) \(wanted) ms from now, and \(Int64(longest)) is the most",
                remedy: "ask for at most \(Int64(longest)) ms")
        }
        return min(call.request.deadline, now + wanted)
    }

    /// A target that does not answer may use up only the limits of its own requesters.
    ///
    /// - Throws: 25024.
    private func checkRoom(forForwardOf sender: Principal, to target: Principal) throws(IoTError) {
        let isOwn = sender.accessID != nil && sender.accessID == identity.ownAccount
        // The other users of a shared device must not shut out its owner.
        let isOwner = sender.accessID.flatMap { user in
            target.deviceID.map { state.bindings.owner(of: $0) == user }
        }
        let remedy = "wait for the answers, or for the requests' deadlines"
        guard forwards.count(of: sender, to: target) < limits.forwardsOfPair else {
            throw IoTError(
                .tooManyRequests, "\(limits.forwardsOfPair) requests to \(target) wait for its answers", remedy: remedy)
        }
        guard forwards.count(of: sender) < limits.forwardsOfSender else {
            throw IoTError(
                .tooManyRequests, "\(limits.forwardsOfSender) requests of \(sender) wait for answers", remedy: remedy)
        }
        guard isOwner == true || forwards.count(to: target) < limits.forwardsToTarget else {
            throw IoTError(.tooManyRequests, "too many requests wait for answers of \(target)", remedy: remedy)
        }
        guard forwards.count < limits.pendingForwards - (isOwn ? 0 : limits.forwardsReserved) else {
            throw IoTError(.tooManyRequests, "too many requests wait for answers of devices", remedy: remedy)
        }
    }

    /// The same request gets the same id at its target, even after a restart of the hub. The target then recognizes a
    /// request that it has answered, and does not carry it out twice. A different request with the same id gets another
    /// one.
    private static func forwardID(_ requester: HubTurn.Requester) -> String {
        RequestID.derived(from: "\(requester.address.principal)/\(requester.id)/\(requester.content.digest)")
    }

    mutating func handle(_ reply: LinkReply, from address: LinkAddress, at time: HubTime) {
        guard standing(address) == .current else {
            statistics.ignoredMessages += 1
            return
        }
        sessions.heard(address, silentUntil: time.monotonic + limits.sessionSilence)
        guard let forward = forwards[reply.id], forward.target == address else {
            statistics.ignoredMessages += 1
            return
        }
        if case .message(.many) = forward.purpose, !reply.final, reply.code == .success {
            passOn(reply, of: forward, at: time)
        } else if reply.final || reply.code != .success {
            conclude(forward, reply.outcome, sequence: reply.seq, at: time)
        } else if let requester = forward.requester {
            var part = reply
            part.id = requester.id
            send(.reply(part), to: requester.address)
        }
    }

    mutating func expire(_ forward: Forward, at time: HubTime) {
        conclude(forward, .failure(IoTError(.peerTimeout)), isAnswered: false, at: time)
    }

    /// Ends a forward: stores what it changed, then answers the requester.
    mutating func conclude(
        _ forward: Forward, _ outcome: Result<JSONValue, IoTError>, sequence: Int? = nil, isAnswered: Bool = true,
        at time: HubTime
    ) {
        guard forwards.remove(forward.id) != nil else { return }
        guard let requester = forward.requester else {
            if case .ending(let key, let side) = forward.purpose {
                concludeEnding(key, side, isAnswered: isAnswered, at: time)
            } else {
                // A device that is too busy has not taken the value.
                var isTaken = isAnswered
                if case .failure(let error) = outcome, error.code == .tooManyRequests { isTaken = false }
                concludeDelivery(forward, isTaken: isTaken, at: time)
            }
            return
        }
        turn.requester = requester
        switch forward.purpose {
        case .action(let device, let path, let value):
            if case .success = outcome {
                noteAction(device, path, value, by: requester.actor, at: time)
            }
            finish(requester, outcome, at: time)
        case .call, .lanPassword: finish(requester, outcome, at: time)
        case .connect(let key):
            if case .failure = outcome { noteConnectFailed(key) } else { noteConnected(key) }
            finish(requester, outcome, at: time)
        case .message(let responses): finishMessage(forward, responses, outcome, sequence, for: requester, at: time)
        case .delivery, .ending: break
        }
    }

    // MARK: Actions

    mutating func takeAction(_ call: HubCall<ActionQuery>) throws(IoTError) -> Outcome {
        let device = try call.permit.target()
        let command = try model(of: device).actionCommand(call.parameters.path, call.parameters.value)
        guard let session = sessions[.device(device)] else { throw IoTError(.deviceOffline) }
        return try forward(
            call, as: ModelMethod.carryOut,
            ActionOrder(
                path: command.path, value: command.value, t: call.time.seconds,
                origin: call.permit.actor.description),
            to: session.address, purpose: .action(device, path: command.path + ".ctlVal", value: command.value),
            timeout: call.parameters.timeoutMilliseconds)
    }

    /// Records in the document who last took the action, and when.
    private mutating func noteAction(
        _ device: DeviceID, _ path: String, _ value: JSONValue, by principal: Principal, at time: HubTime
    ) {
        // A schema that changed in the meantime may lack this action, which was still carried out.
        guard
            let change = try? state.models[device]?.takeAction(
                path, value, origin: principal.description, at: time.seconds)
        else { return }
        record(change, of: device)
    }
}
