import IoTCore
import IoTLink

/// Calls: the hub decides who may call, and carries the messages between the two sides.
extension HubCore {
    /// The actions that a kind of channel requires: recordings show more than a live view, and a data channel sends
    /// messages.
    private static func needs(of kind: ChannelKind) -> BindingActions {
        switch kind {
        case .playback: .playback
        case .transmission: .control
        default: []
        }
    }

    /// `call.token`: a short-lived permission for one device, one kind of channel and some actions.
    func issueCallToken(_ call: HubCall<CallTokenQuery>) throws(IoTError) -> CallToken {
        let (query, permit, time) = (call.parameters, call.permit, call.time)
        _ = try allowedNeeds(of: query.kind, query.actions, permit)
        let claims = CallTokenClaims(
            sub: .device(try permit.target()), from: permit.actor, channel: query.kind, actions: query.actions,
            jti: RequestID.random(), iat: time.seconds, exp: time.seconds + limits.callTokenSeconds,
            owner: permit.binding?.role == .owner)
        return CallToken(token: try authority.sign(claims), expires: claims.exp)
    }

    /// The binding's actions that a call requires. Throws 8003 if one of them is missing.
    private func allowedNeeds(
        of kind: ChannelKind, _ actions: [CallAction], _ permit: HubPermit
    ) throws(IoTError) -> BindingActions {
        let needs = actions.reduce(Self.needs(of: kind)) { $0.union($1.need) }
        let missing = needs.subtracting(permit.binding?.actions ?? [])
        guard missing.isEmpty else {
            throw IoTError(
                .relationInvalid,
                "your binding to this device does not allow: \(missing.names.joined(separator: ", "))")
        }
        return needs
    }

    /// `call.connect`: the device gets the request with the token, which it checks itself. It also gets the token's
    /// grant, for devices that do not check tokens.
    mutating func connectCall(_ call: HubCall<CallRequest>) throws(IoTError) -> Outcome {
        let (permit, time) = (call.permit, call.time)
        var sent = call.parameters
        let device = try permit.target()
        let requester = permit.requester
        guard let token = sent.token else { throw call.members.wrong("token", "a text") }
        guard let claims = authority.verify(token, as: CallTokenClaims.self), claims.sub == .device(device),
            claims.from == permit.actor, claims.channel == sent.kind,
            time.seconds <= claims.exp + limits.tokenLeeway
        else { throw IoTError(.callTokenInvalid) }
        // The binding may have changed after the token was issued.
        let isOwner = permit.binding?.role == .owner
        guard claims.owner != true || isOwner else { throw IoTError(.callTokenInvalid) }
        let needs = try allowedNeeds(of: sent.kind, claims.actions, permit)
        let key = OpenCall.Key(device: device, session: sent.session)
        guard state.calls[key] == nil else { throw IoTError(.duplicateCall) }
        guard let session = sessions[.device(device)] else { throw IoTError(.deviceOffline) }
        let user = try permit.account()
        try checkHasCall(user)
        try checkRoom(forCallOf: user, to: device)
        sent.device = device.rawValue
        sent.peerSession = Self.peerSession(of: requester.address, for: device)
        sent.grant = CallGrant(claims)
        sent.grant?.isOwner = isOwner
        // Members that this version does not know are passed on unchanged.
        let params = call.request.params.merging(sent.json)
        let outcome = try forward(call, params, to: session.address, purpose: .connect(key))
        open(
            OpenCall(
                key: key, user: user, asker: requester.address, needs: needs, opened: time.wall))
        return outcome
    }

    /// The caller's session as the device sees it and sends it back. It is the same for the same session, also after a
    /// restart. The session id itself stays between its principal and the hub: earlier clients derive their MQTT client
    /// id from it, and with that id any client could end their connections.
    static func peerSession(of address: LinkAddress, for device: DeviceID) -> String {
        RequestID.derived(from: "peerSession/\(device)/\(address.principal)/\(address.session)")
    }

    /// `call.control`, `call.trickle`, `call.invite`, and with `isEnd` `call.end`: between a device and a user who are
    /// bound to each other. A device's message in a call goes to the session that called, even if it called in another
    /// name.
    mutating func passOn(_ message: HubCall<CallRoute>, isEnd: Bool = false) throws(IoTError) -> Outcome {
        let route = message.parameters
        let (device, user) = try boundPeers(route.peer, message.permit.actor)
        let known = state.calls[OpenCall.Key(device: device, session: route.session)]
        let call = known.flatMap { $0.user == user ? $0 : nil }
        if isEnd, let call { close(call) }
        let target: LinkAddress
        if route.peer.kind == .user, let call {
            guard standing(call.asker) == .current else {
                throw IoTError(.appNotOnline, "the user's session of this call has ended")
            }
            target = call.asker
        } else {
            guard let session = sessions[route.peer] else {
                throw IoTError(route.peer.kind == .device ? .deviceOffline : .appNotOnline)
            }
            // A user who registered again has left the call of the earlier session.
            if route.peer.kind == .user, let peerSession = route.peerSession,
                peerSession != Self.peerSession(of: session.address, for: device)
            {
                throw IoTError(.appNotOnline, "the user's session of this call has ended")
            }
            target = session.address
        }
        return try forward(message, message.request.params, to: target, purpose: .call)
    }
}
