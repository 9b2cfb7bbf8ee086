import IoTCore
import IoTLink

/// Calls: the hub says who may, and carries the two sides' messages to each other.
extension HubCore {
    /// What a call may be for, and the action that its user must have.
    private static let callActions: [String: BindingActions] = [
        "view": .view, "listen": .view, "talk": .talk, "playback": .playback, "control": .control,
    ]

    /// What the kind of channel takes by itself: recordings are more than a look, and a data channel sends messages.
    private static func needs(of kind: ChannelKind) -> BindingActions {
        switch kind {
        case .playback: .playback
        case .transmission: .control
        default: []
        }
    }

    /// `call.token`: a short-lived permission for one device, one kind of channel and some actions.
    func issueCallToken(
        _ parameters: LinkMembers, _ permit: HubPermit, at time: HubTime
    ) throws(IoTError) -> JSONValue {
        let device = try permit.target()
        let kind = try parameters.channelKind("kind")
        var actions: [String] = []
        for action in try parameters.list("actions", atMost: 16) {
            guard let action = action.stringValue, Self.callActions[action] != nil else {
                throw IoTError(
                    .invalidRequest,
                    "call.token: actions are \(Self.callActions.keys.sorted().joined(separator: ", "))")
            }
            if !actions.contains(action) { actions.append(action) }
        }
        guard !actions.isEmpty else { throw IoTError(.invalidRequest, "call.token: 'actions' is empty") }
        _ = try allowedNeeds(of: kind, actions, permit)
        let claims = CallTokenClaims(
            sub: Principal.device(device).description, from: permit.actor.description, channel: kind.name,
            actions: actions, jti: RequestID.random(), iat: time.seconds, exp: time.seconds + limits.callTokenSeconds,
            owner: permit.binding?.role == .owner)
        return ["token": .string(try authority.sign(claims)), "expires": .integer(claims.exp)]
    }

    /// The binding's actions that a call takes. Throws 8003 when one of them is not given.
    private func allowedNeeds(
        of kind: ChannelKind, _ actions: [String], _ permit: HubPermit
    ) throws(IoTError) -> BindingActions {
        let needs = actions.reduce(Self.needs(of: kind)) { $0.union(Self.callActions[$1] ?? .all) }
        let missing = needs.subtracting(permit.binding?.actions ?? [])
        guard missing.isEmpty else {
            throw IoTError(
                .relationInvalid,
                "your binding to this device does not allow: \(missing.names.joined(separator: ", "))")
        }
        return needs
    }

    /// `call.connect`: the device gets the request with the token, which it checks itself, and beside it what the token
    /// grants, for devices that do not.
    mutating func connectCall(_ call: HubCall<JSONValue>) throws(IoTError) -> Outcome {
        let (parameters, permit, time) = (call.members, call.permit, call.time)
        let device = try permit.target()
        let requester = permit.requester
        let kind = try parameters.channelKind("kind")
        guard let claims = authority.verify(try parameters.text("token"), as: CallTokenClaims.self),
            claims.sub == Principal.device(device).description,
            claims.from == permit.actor.description, claims.channel == kind.name,
            time.seconds <= claims.exp + limits.tokenLeeway
        else { throw IoTError(.callTokenInvalid) }
        // The binding may have changed since the token was given.
        guard claims.owner != true || permit.binding?.role == .owner else { throw IoTError(.callTokenInvalid) }
        let needs = try allowedNeeds(of: kind, claims.actions, permit)
        let key = OpenCall.Key(device: device, session: try parameters.text("session"))
        // It is part of a key of the store.
        guard (1...64).contains(key.session.utf8.count), key.session.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw IoTError(.invalidRequest, "call.connect: 'session' must be 1 to 64 visible characters of ASCII")
        }
        guard state.calls[key] == nil else { throw IoTError(.duplicateCall) }
        guard let session = sessions[.device(device)] else { throw IoTError(.deviceOffline) }
        let user = try permit.account()
        try checkRoom(forCallOf: user, to: device)
        var params = call.request.params
        params["device"] = .string(device.rawValue)
        params["kind"] = .string(kind.name)
        params["peerSession"] = .string(Self.peerSession(of: requester.address, for: device))
        params["grant"] = [
            "user": .string(claims.from), "kind": .string(kind.name),
            "actions": .array(claims.actions.map { .string($0) }), "expires": .integer(claims.exp),
            "owner": .bool(permit.binding?.role == .owner),
        ]
        let outcome = try forward(
            call, params, to: session.address, purpose: .connect(key))
        open(
            OpenCall(
                key: key, user: user, asker: requester.address, needs: needs, opened: time.wall))
        return outcome
    }

    /// What a device is told of the caller's session, and shows in what it sends back: the same for the same session,
    /// also after a restart. The session id itself stays between its principal and the hub. Earlier clients make their
    /// MQTT client id of it, by which anybody who is let in could end their connections.
    static func peerSession(of address: LinkAddress, for device: DeviceID) -> String {
        RequestID.derived(from: "peerSession/\(device)/\(address.principal)/\(address.session)")
    }

    /// `call.control`, `call.trickle`, `call.end`, `call.invite`: between a device and a user who are bound to each
    /// other. What a device says in a call goes to the session that called, be it in another's name.
    mutating func passOn(_ request: HubCall<JSONValue>) throws(IoTError) -> Outcome {
        let peer = try request.members.principal("peer")
        let (device, user) = try boundPeers(peer, request.permit.actor)
        let params = request.request.params
        let known = params["session"]?.stringValue.flatMap { state.calls[OpenCall.Key(device: device, session: $0)] }
        let call = known.flatMap { $0.user == user ? $0 : nil }
        if let call, request.permit.row.name == CallMethod.end.name { close(call) }
        let target: LinkAddress
        if peer.kind == .user, let call {
            guard standing(call.asker) == .current else {
                throw IoTError(.appNotOnline, "the user's session of this call is over")
            }
            target = call.asker
        } else {
            guard let session = sessions[peer] else {
                throw IoTError(peer.kind == .device ? .deviceOffline : .appNotOnline)
            }
            // A user who registered anew has left the call of the session before.
            if peer.kind == .user, let peerSession = params["peerSession"],
                peerSession.stringValue != Self.peerSession(of: session.address, for: device)
            {
                throw IoTError(.appNotOnline, "the user's session of this call is over")
            }
            target = session.address
        }
        return try forward(request, params, to: target, purpose: .call)
    }
}
