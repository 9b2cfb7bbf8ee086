import IoTCore
import IoTLink
import NIOCore

/// The calls under way, and how they end with the right to them.
extension HubCore {
    /// Whether another call fits.
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

    mutating func open(_ call: OpenCall) { put(call) }

    /// A device that registers anew has left its earlier calls, as after its program's end; nobody else would end them,
    /// and they would count for good. The user hears of it at once, the device when it is online.
    mutating func endEarlierCalls(of device: DeviceID, at time: HubTime) {
        for var call in state.calls.of(device) where call.ending.isEmpty {
            call.ending = [.user, .device]
            put(call)
            tell(.user, call, at: time)
        }
    }

    /// One of its sides ended it, or it never began.
    mutating func close(_ call: OpenCall) {
        guard state.calls.remove(call.key) != nil else { return }
        turn.changes.append(.removeCall(call.key))
    }

    /// The device refused the call, or did not answer.
    mutating func noteConnectFailed(_ key: OpenCall.Key) {
        guard let call = state.calls[key], call.ending.isEmpty else { return }
        close(call)
    }

    /// Ends the calls that take more than the user may now do: both sides hear 20014.
    mutating func endCalls(
        of user: AccessID, _ device: DeviceID, notAllowedBy actions: BindingActions, at time: HubTime
    ) {
        for call in state.calls.of(user, device)
        where call.ending.isEmpty && (actions.isEmpty || !actions.isSuperset(of: call.needs)) {
            end(call, for: [.user, .device], at: time)
        }
    }

    /// Ends what the user still waits for from the device, when it may no longer ask so: 20014.
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
                case .delivery, .ending: false
                }
            if isOver { conclude(forward, .failure(IoTError(.relationChanged)), isAnswered: false, at: time) }
        }
        // They were others' requests; this turn is still whose it was.
        turn.requester = asker
    }

    /// A side that does not answer hears of it again when it is back, also from a hub that was restarted meanwhile:
    /// the media do not pass here, so nothing else would end them.
    mutating func end(_ call: OpenCall, for sides: OpenCall.Sides, at time: HubTime) {
        guard call.ending.isEmpty else { return }
        var call = call
        call.ending = sides
        put(call)
        for side in [OpenCall.Sides.user, .device] where sides.contains(side) { tell(side, call, at: time) }
    }

    /// What a principal that is online again has missed.
    mutating func tellEndings(to principal: Principal, at time: HubTime) {
        for call in state.calls.endings(for: principal) {
            tell(principal.kind == .device ? .device : .user, call, at: time)
        }
    }

    /// A side that is no more need not hear of anything.
    mutating func dropEndings(for principal: Principal) {
        for call in state.calls.endings(for: principal) {
            settle(principal.kind == .device ? .device : .user, of: call)
        }
    }

    mutating func concludeEnding(_ key: OpenCall.Key, _ side: OpenCall.Sides, isAnswered: Bool, at time: HubTime) {
        guard let call = state.calls[key], call.ending.contains(side) else { return }
        if isAnswered { settle(side, of: call) } else { tell(side, call, at: time) }
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

    private mutating func tell(_ side: OpenCall.Sides, _ call: OpenCall, at time: HubTime) {
        let device = Principal.device(call.key.device)
        let (receiver, peer, sender) =
            side == .device
            ? (device, device, Principal.user(call.user)) : (call.asker.principal, .user(call.user), device)
        guard let session = sessions[receiver], forwards.count < limits.pendingForwards else { return }
        let patience = TimeAmount.seconds(10)
        let isAllowed = state.bindings[call.key.device, call.user]?.actions.isSuperset(of: call.needs) == true
        let reason =
            isAllowed
            ? IoTError(.peerTimeout, "the device registered anew and left this call")
            : IoTError(.relationChanged, "the right to this call was withdrawn")
        // The same at each attempt: who has heard it answers from memory.
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
