import IoTCore
import IoTLink
import NIOCore

/// The open calls, and how they end when the right to them ends.
extension HubCore {
    /// Checks that another call fits.
    ///
    /// - Throws: 25024.
    func checkRoom(forCallOf user: AccessID, to device: DeviceID) throws(IoTError) {
        let calls = state.calls
        guard calls.count(of: user) < limits.callsOfAccount else {
            throw IoTError(
                .tooManyRequests, "'\(user)' has \(limits.callsOfAccount) open calls", remedy: "end some of them first")
        }
        guard calls.count(of: device) < limits.callsOfDevice else {
            throw IoTError(
                .tooManyRequests, "the device has \(limits.callsOfDevice) open calls",
                remedy: "try again when some of them have ended")
        }
        let reserve = user == identity.ownAccount ? 0 : limits.callsReserved
        guard calls.count < limits.calls - reserve else {
            throw IoTError(
                .tooManyRequests, "the hub has \(calls.count) open calls",
                remedy: "try again when some of them have ended")
        }
    }

    /// - Throws: 8003 if the account is for one call, and has had it or has it.
    func checkHasCall(_ user: AccessID) throws(IoTError) {
        guard let call = state.users[user]?.oneCall, call == .begun || state.calls.count(of: user) > 0 else { return }
        throw IoTError(
            .relationInvalid, "this account is for one call, which it has had",
            remedy: "ask the device's owner for another: `iotctl user temporary --one-call`")
    }

    /// The device has taken the call.
    mutating func noteConnected(_ key: OpenCall.Key) {
        guard let user = state.calls[key]?.user, var record = state.users[user], record.oneCall == .expected else {
            return
        }
        record.oneCall = .begun
        state.users[user] = record
        turn.changes.append(.putUser(user, record))
    }

    /// An account for one call expires with it.
    private mutating func endOneCall(of user: AccessID) {
        guard var record = state.users[user], record.oneCall == .begun else { return }
        record.expires = 0
        state.users[user] = record
        turn.changes.append(.putUser(user, record))
        updateAccountExpiry()
    }

    mutating func open(_ call: OpenCall) { put(call) }

    /// Ends the calls that a device left when it registered again, for example after its program ended. Nothing else
    /// would end them, and they would count forever. The user is notified at once, the device when it is online.
    mutating func endEarlierCalls(of device: DeviceID, at time: HubTime) {
        for var call in state.calls.of(device) where call.ending.isEmpty {
            call.ending = [.user, .device]
            put(call)
            notify(.user, call, at: time)
        }
    }

    /// Removes a call that one of its sides ended, or that never began.
    mutating func close(_ call: OpenCall) {
        guard state.calls.remove(call.key) != nil else { return }
        turn.changes.append(.removeCall(call.key))
        endOneCall(of: call.user)
    }

    /// The device refused the call, or did not answer.
    mutating func noteConnectFailed(_ key: OpenCall.Key) {
        guard let call = state.calls[key], call.ending.isEmpty else { return }
        close(call)
    }

    /// Ends the calls that require more than the user may now do: both sides get 20014.
    mutating func endCalls(
        of user: AccessID, _ device: DeviceID, notAllowedBy actions: BindingActions, at time: HubTime
    ) {
        for call in state.calls.of(user, device)
        where call.ending.isEmpty && (actions.isEmpty || !actions.isSuperset(of: call.needs)) {
            end(call, for: [.user, .device], at: time)
        }
    }

    /// Ends the user's pending requests to the device that are no longer allowed: 20014.
    mutating func cancelForwards(
        of user: AccessID, to device: DeviceID, notAllowedBy actions: BindingActions, at time: HubTime
    ) {
        let asker = turn.requester
        for forward in forwards.waiting(for: .device(device)) where forward.requester?.actor == .user(user) {
            let isOver =
                switch forward.purpose {
                case .action, .message: !actions.contains(.control)
                case .connect(let key): state.calls[key]?.ending.isEmpty == false
                case .call: actions.isEmpty
                case .lanPassword: !actions.contains(.configure)
                case .delivery, .ending: false
                }
            if isOver { conclude(forward, .failure(IoTError(.relationChanged)), isAnswered: false, at: time) }
        }
        // Those requests may have other requesters; this turn's requester stays the same.
        turn.requester = asker
    }

    /// A side that does not answer is notified again when it is back, even after a restart of the hub. The media do not
    /// pass through the hub, so nothing else would end them.
    mutating func end(_ call: OpenCall, for sides: OpenCall.Sides, at time: HubTime) {
        guard call.ending.isEmpty else { return }
        var call = call
        call.ending = sides
        put(call)
        for side in [OpenCall.Sides.user, .device] where sides.contains(side) { notify(side, call, at: time) }
    }

    /// Notifies a principal that is online again of the endings that it missed.
    mutating func tellEndings(to principal: Principal, at time: HubTime) {
        for call in state.calls.endings(for: principal) {
            notify(principal.kind == .device ? .device : .user, call, at: time)
        }
    }

    /// A principal that was removed need not be notified.
    mutating func dropEndings(for principal: Principal) {
        for call in state.calls.endings(for: principal) {
            settle(principal.kind == .device ? .device : .user, of: call)
        }
    }

    mutating func concludeEnding(_ key: OpenCall.Key, _ side: OpenCall.Sides, isAnswered: Bool, at time: HubTime) {
        guard let call = state.calls[key], call.ending.contains(side) else { return }
        if isAnswered { settle(side, of: call) } else { notify(side, call, at: time) }
    }

    private mutating func settle(_ side: OpenCall.Sides, of call: OpenCall) {
        var call = call
        call.ending.remove(side)
        if call.ending.isEmpty { close(call) } else { put(call) }
    }

    private mutating func put(_ call: OpenCall) {
        state.calls.set(call)
        turn.changes.append(.putCall(call))
    }

    private mutating func notify(_ side: OpenCall.Sides, _ call: OpenCall, at time: HubTime) {
        let device = Principal.device(call.key.device)
        let (receiver, peer, sender) =
            side == .device
            ? (device, device, Principal.user(call.user)) : (call.asker.principal, .user(call.user), device)
        guard let session = sessions[receiver], forwards.count < limits.pendingForwards else { return }
        let patience = TimeAmount.seconds(10)
        let isAllowed = state.bindings[call.key.device, call.user]?.actions.isSuperset(of: call.needs) == true
        let reason =
            isAllowed
            ? IoTError(.peerTimeout, "the device registered again and left this call")
            : IoTError(.relationChanged, "the right to this call was withdrawn")
        // The id is the same at each attempt: a side that was already notified answers from memory.
        let id = "end." + RequestID.derived(from: "\(call.key.device)/\(side.rawValue)/\(call.key.session)")
        forwards.add(
            Forward(
                id: id, target: session.address, requester: nil, deadline: time.monotonic + patience,
                purpose: .ending(call.key, side)))
        let ending = CallEnding(CallRoute(peer: peer, session: call.key.session), reason)
        send(
            .request(
                LinkRequest(
                    id: id, method: CallMethod.end.name, from: sender, params: ending.json, t: time.wall,
                    deadline: time.wall + patience.nanoseconds / 1_000_000)),
            to: session.address)
    }
}
