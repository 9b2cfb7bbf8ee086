import IoTCore
import IoTLink

/// Calls: the hub says who may, and carries the two sides' messages to each other.
extension HubCore {
    private static let allActions: Set<String> = ["view", "listen", "talk", "control"]
    private static let guestActions: Set<String> = ["view", "listen"]

    /// `call.token`: a short-lived permission for one device, one kind of channel and some actions.
    func issueCallToken(
        _ parameters: RequestParameters, _ user: AccessID, at time: HubTime
    ) throws(IoTError) -> JSONValue {
        let (device, role) = try target(parameters, user)
        let kind = try parameters.channelKind("kind")
        var actions: [String] = []
        for action in try parameters.list("actions", atMost: 16) {
            guard let action = action.stringValue, Self.allActions.contains(action) else {
                throw IoTError(
                    .invalidRequest, "call.token: actions are \(Self.allActions.sorted().joined(separator: ", "))")
            }
            guard role == .owner || Self.guestActions.contains(action) else {
                throw IoTError(.relationInvalid, "a guest may not \(action)")
            }
            if !actions.contains(action) { actions.append(action) }
        }
        guard !actions.isEmpty else { throw IoTError(.invalidRequest, "call.token: 'actions' is empty") }
        let claims = CallTokenClaims(
            sub: Principal.device(device).description, from: Principal.user(user).description, channel: kind.name,
            actions: actions, jti: RequestID.random(), iat: time.seconds, exp: time.seconds + limits.callTokenSeconds)
        return ["token": .string(try authority.sign(claims)), "expires": .integer(claims.exp)]
    }

    /// `call.connect`: the device gets the request with what the token grants; the token itself ends here.
    mutating func connectCall(
        _ parameters: RequestParameters, _ user: AccessID, for requester: HubTurn.Requester, at time: HubTime
    ) throws(IoTError) -> Outcome {
        let (device, _) = try target(parameters, user)
        let kind = try parameters.channelKind("kind")
        guard let claims = authority.verify(try parameters.text("token"), as: CallTokenClaims.self),
            claims.kind == CallTokenClaims.kind, claims.sub == Principal.device(device).description,
            claims.from == requester.address.principal.description, claims.channel == kind.name,
            time.seconds <= claims.exp + TokenAuthority.leeway
        else { throw IoTError(.callTokenInvalid) }
        guard let session = sessions[.device(device)] else { throw IoTError(.deviceOffline) }
        var params = parameters.request.params
        params["token"] = nil
        params["device"] = .string(device.rawValue)
        params["kind"] = .string(kind.name)
        params["peerSession"] = .string(requester.address.session)
        params["grant"] = [
            "user": .string(claims.from), "actions": .array(claims.actions.map { .string($0) }),
            "expires": .integer(claims.exp),
        ]
        return try forward(
            parameters.request, params, for: requester, to: session.address, purpose: .call, at: time)
    }

    /// `call.control`, `call.trickle`, `call.end`, `call.invite`: between a device and a user who are bound to each other.
    mutating func passOn(
        _ parameters: RequestParameters, for requester: HubTurn.Requester, at time: HubTime
    ) throws(IoTError) -> Outcome {
        let peer = try parameters.principal("peer")
        let sender = requester.address.principal
        guard peer.kind != sender.kind, let device = sender.deviceID ?? peer.deviceID,
            let user = sender.accessID ?? peer.accessID, state.roles[device]?[user] != nil
        else { throw IoTError(.relationInvalid) }
        guard let session = sessions[peer] else {
            throw IoTError(peer.kind == .device ? .deviceOffline : .appNotOnline)
        }
        // A user who registered anew has left the call of the session before.
        if peer.kind == .user, let peerSession = parameters.request.params["peerSession"],
            peerSession.stringValue != session.address.session
        {
            throw IoTError(.appNotOnline, "the user's session of this call is over")
        }
        return try forward(
            parameters.request, parameters.request.params, for: requester, to: session.address, purpose: .call,
            at: time)
    }
}
