import GatewayAPI
import IoTCore
import IoTLink
import MediaChannel
import PeerTransport

struct CallerCalls: GatewayCalls {
    let session: CallerSession

    func iceServers(_ device: String) async throws -> [ICEServer] {
        _ = try await session.viewable(device)
        return session.gateway.iceServers.servers(for: Hex.random(byteCount: 8), at: WallClock.milliseconds() / 1000)
    }

    func open(_ device: String, _ wish: BrowserWish) async throws -> RelayedCalls.Answer {
        let entry = try await session.viewable(device)
        if wish.kind == .live { try session.requireTalk(entry) }
        // A key is given away so that somebody sees the camera, not those who call it.
        if case .key = session.caller.credentials, wish.source != .main {
            throw IoTError(
                .forbidden, "a media key opens the camera's own picture alone", remedy: "use an API token of the owner")
        }
        guard let device = DeviceID(rawValue: entry.id) else { throw IoTError(.targetNotFound) }
        // The media do not pass through the gateway, so the call has its own lease, which ends it.
        let id = RelayedCalls.makeID()
        let relayed = session.gateway.relayed
        let right = session.gateway.leases.begin(session.caller) { await relayed.close(id) }
        right.needs(device: entry.id)
        right.keep(try session.take(.calls))
        return try await relayed.open(
            id, device: device, kind: wish.kind, source: wish.source,
            actions: entry.callActions.filter { action in
                action == .view || DeviceAction(rawValue: action.rawValue).map(session.caller.scope.includes) ?? false
            },
            definition: session.gateway.definition(wish.definition, wish.kind, wish.source), offer: wish.offer,
            as: session.principal, right: right)
    }

    func trickle(_ id: String, iceUfrag: String?, candidates: [String]) async throws {
        let call = try call(id)
        guard iceUfrag == nil || iceUfrag == call.iceUfrag else {
            throw IoTError(.actionNotSupported, "a call's ICE cannot be restarted", remedy: "end it and call again")
        }
        for candidate in candidates {
            try await session.gateway.relayed.trickle(id, candidate: candidate)
        }
    }

    func close(_ id: String) async throws {
        _ = try call(id)
        await session.gateway.relayed.close(id)
    }

    /// A call of the caller's account. Calls of other accounts are reported as not found.
    private func call(_ id: String) throws(IoTError) -> RelayedCalls.Call {
        let call = try session.gateway.relayed.call(id)
        guard call.account == session.principal else {
            throw IoTError(.notFound, "there is no such call, or it has ended", remedy: "call again")
        }
        try session.caller.require(device: call.device.rawValue)
        return call
    }
}
