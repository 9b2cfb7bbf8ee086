import IoTCore
import IoTLink
import NIOCore
import ThingModel

extension HubCore {
    /// `session.begin`: from now on this is the principal's only session.
    mutating func begin(
        _ request: LinkRequest, from address: LinkAddress, at time: HubTime
    ) throws(IoTError) -> JSONValue {
        guard isKnown(address.principal) else {
            throw IoTError(.targetNotFound, "the hub does not know \(address.principal)")
        }
        if let session = request.params["session"], session.stringValue != address.session {
            throw IoTError(.invalidRequest, "session.begin: 'session' must be the one of the topic")
        }
        if sessions.standing(address) == .superseded {
            push(LinkMethod.kick, ["reason": "superseded"], to: address, at: time)
            throw IoTError(.linkUnavailable, "a newer registration took over from this session")
        }
        let wasOnline = sessions[address.principal] != nil
        if let old = sessions.begin(address, silentUntil: time.monotonic + limits.sessionSilence) {
            push(LinkMethod.kick, ["reason": "superseded"], to: old, at: time)
            abandonForwards(to: address.principal, at: time)
        }
        if let device = address.principal.deviceID, !wasOnline { setPresence(device, true, at: time) }
        return [
            "t": .integer(time.wall),
            "kind": address.principal.kind == .user ? "user" : "device",
            "principal": .string(address.principal.description),
            "tokenExpires": tokenExpiry(of: address.principal).map { .integer($0) } ?? .null,
        ]
    }

    mutating func handle(_ push: LinkPush, from address: LinkAddress, at time: HubTime) {
        guard sessions.standing(address) == .current, push.method == LinkMethod.end else {
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

    /// Nobody will answer these any more.
    private mutating func abandonForwards(to principal: Principal, at time: HubTime) {
        for forward in forwards.waiting(for: principal) {
            let code: ErrorCode = principal.kind == .device ? .deviceOffline : .appNotOnline
            conclude(forward, .failure(IoTError(code, "the peer went offline before it answered")), at: time)
        }
    }

    private mutating func setPresence(_ device: DeviceID, _ isOnline: Bool, at time: HubTime) {
        guard var record = state.devices[device] else { return }
        record.presenceSince = time.wall
        state.devices[device] = record
        turn.changes.append(.putDevice(device, record))
        markOnline(device, isOnline, at: time)
        pushToUsers(
            of: device, "device.presence",
            [
                "device": .string(device.rawValue), "online": .bool(isOnline),
                "presenceSince": .integer(time.wall),
            ], at: time)
    }

    /// `ProReadonly._online` is the hub's to set.
    mutating func markOnline(_ device: DeviceID, _ isOnline: Bool, at time: HubTime) {
        let path = "ProReadonly._online.stVal"
        let value: JSONValue = isOnline ? 1 : 0
        guard let current = try? state.models[device]?.read(path).value, current != value,
            let change = try? state.models[device]?.report(path, value, at: time.seconds, by: .hub)
        else { return }
        record(change, of: device)
    }

    private func isKnown(_ principal: Principal) -> Bool {
        if let user = principal.accessID { return state.users.contains(user) }
        return principal.deviceID.map { state.devices[$0] != nil } ?? false
    }

    private func tokenExpiry(of principal: Principal) -> Int64? {
        state.tokens.values.filter { $0.credential.principal == principal }.map(\.expires).max()
    }
}
