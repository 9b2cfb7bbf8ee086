import IoTCore
import IoTLink
import NIOCore
import ThingModel

extension HubCore {
    enum Standing {
        case current
        /// A newer registration took over: messages of this session are ignored.
        case superseded
        case unknown
    }

    func standing(_ address: LinkAddress) -> Standing {
        if sessions[address.principal]?.address == address { return .current }
        let isOld = state.registrations[address.principal]?.superseded.contains(address.session) == true
        return isOld ? .superseded : .unknown
    }

    /// `session.begin`: from now on this is the principal's only session.
    mutating func begin(
        _ beginning: SessionBeginning, from address: LinkAddress, at time: HubTime
    ) throws(IoTError) -> SessionBegun {
        guard isKnown(address.principal) else {
            throw IoTError(
                .targetNotFound, "the hub does not know \(address.principal)",
                remedy: "join again with a new enrolment string")
        }
        if let session = beginning.session, session != address.session {
            throw IoTError(.invalidRequest, "session.begin: 'session' must be the one of the topic")
        }
        if standing(address) == .superseded {
            push(SessionMethod.kick, SessionKick(.superseded), to: address, at: time)
            throw IoTError(.linkUnavailable, "a newer registration took over from this session")
        }
        let isNew = register(address)
        let wasOnline = sessions[address.principal] != nil
        if let old = sessions.begin(
            address, silentUntil: time.monotonic + limits.sessionSilence, readsBatches: beginning.batches)
        {
            push(SessionMethod.kick, SessionKick(.superseded), to: old, at: time)
            abandonForwards(to: address.principal, at: time)
        }
        sessions.noteConnection(beginning.connection, of: address.principal)
        if isNew, let device = address.principal.deviceID { endEarlierCalls(of: device, at: time) }
        if let device = address.principal.deviceID, !wasOnline { setPresence(device, true, at: time) }
        if isNew, let device = address.principal.deviceID { announceProvisioned(device, at: time) }
        return SessionBegun(
            time: SessionTime(t: time.wall), principal: address.principal,
            tokenExpires: tokenExpiry(of: address.principal),
            tokenKeys: address.principal.kind == .device ? authority.key.publicSet : Optional.none,
            ownership: address.principal.deviceID.flatMap { state.devices[$0]?.owners },
            grantsEnded: address.principal.deviceID.flatMap { state.devices[$0]?.grantsEnded }, batches: true)
    }

    /// Records which session is the newest. This is stored, so it outlives the hub.
    ///
    /// - Returns: False if the session was the newest already.
    private mutating func register(_ address: LinkAddress) -> Bool {
        var registration = state.registrations[address.principal]
        if registration?.begin(address.session) == false { return false }
        registration = registration ?? Registration(session: address.session)
        state.registrations[address.principal] = registration
        if let registration { turn.changes.append(.putRegistration(address.principal, registration)) }
        return true
    }

    /// Ends a principal's session for good: its client must not reconnect by itself.
    mutating func kick(_ principal: Principal, _ reason: LinkKickReason, at time: HubTime) {
        guard let session = sessions[principal] else { return }
        push(SessionMethod.kick, SessionKick(reason), to: session.address, at: time)
        endSession(principal, at: time)
    }

    /// Removes all state of a principal that was removed.
    mutating func forget(_ principal: Principal) {
        sessions.end(principal)
        dropEndings(for: principal)
        rates[principal] = nil
        renewals[principal] = nil
        if state.registrations.removeValue(forKey: principal) != nil {
            turn.changes.append(.removeRegistration(principal))
        }
    }

    mutating func handle(_ push: LinkPush, from address: LinkAddress, at time: HubTime) {
        let ending = SessionMethod.end.parameters(of: push)
        if address.principal.kind == .enrolment, ending != nil {
            // The client has its tokens.
            forgetExchanged(address.principal.id)
            return
        }
        if standing(address) == .current, let request = SessionMethod.finish.parameters(of: push) {
            return finishForward(of: request.id, from: address, at: time)
        }
        guard standing(address) == .current, let ending else {
            statistics.ignoredMessages += 1
            return
        }
        // The will of a connection that the session has left, or never used, does not end the session.
        if let connection = ending.connection, ending.reason == .connectionLost,
            let newest = sessions[address.principal]?.connection, connection != newest
        {
            statistics.ignoredMessages += 1
            return
        }
        endSession(address.principal, at: time)
    }

    mutating func endSession(_ principal: Principal, at time: HubTime) {
        guard sessions[principal] != nil else { return }
        sessions.end(principal)
        abandonForwards(to: principal, at: time)
        if let device = principal.deviceID { setPresence(device, false, at: time) }
    }

    /// Ends the forwards that will never be answered.
    private mutating func abandonForwards(to principal: Principal, at time: HubTime) {
        for forward in forwards.waiting(for: principal) {
            let code: ErrorCode = principal.kind == .device ? .deviceOffline : .appNotOnline
            conclude(
                forward,
                .failure(
                    IoTError(
                        code, "the peer went offline before it answered", underlying: LinkRefusal.afterDelivery)),
                isAnswered: false, at: time)
        }
    }

    private mutating func setPresence(_ device: DeviceID, _ isOnline: Bool, at time: HubTime) {
        guard var record = state.devices[device] else { return }
        record.presenceSince = time.wall
        state.devices[device] = record
        turn.changes.append(.putDevice(device, record))
        markOnline(device, isOnline, at: time)
        pushToUsers(
            of: device, ModelMethod.presence,
            PresenceNotice(device: device, isOnline: isOnline, presenceSince: time.wall), at: time)
    }

    /// A hub that starts has no sessions: a device that the store shows as online is offline until it registers again.
    mutating func endForgottenPresences(at time: HubTime) {
        let online: JSONValue = 1
        for device in state.devices.keys.sorted(by: { $0.rawValue < $1.rawValue })
        where sessions[.device(device)] == nil
            && (try? state.models[device]?.read("ProReadonly._online.stVal").value) == online
        {
            setPresence(device, false, at: time)
        }
    }

    /// Only the hub sets `ProReadonly._online`.
    mutating func markOnline(_ device: DeviceID, _ isOnline: Bool, at time: HubTime) {
        let path = "ProReadonly._online.stVal"
        let value: JSONValue = isOnline ? 1 : 0
        guard let current = try? state.models[device]?.read(path).value, current != value,
            let change = try? state.models[device]?.report(path, value, at: time.seconds, by: .hub)
        else { return }
        record(change, of: device)
    }

    func isKnown(_ principal: Principal) -> Bool {
        if let user = principal.accessID { return state.users[user] != nil }
        return principal.deviceID.map { state.devices[$0] != nil } ?? false
    }

    private func tokenExpiry(of principal: Principal) -> Int64? {
        state.tokens.of(principal).filter { $0.kind == .link }.map(\.expires).max()
    }
}
