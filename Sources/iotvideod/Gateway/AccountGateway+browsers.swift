import GatewayAPI
import IoTCore
import MediaChannel
import PeerTransport

extension AccountGateway {
    func iceServers(_ device: String) async throws -> [ICEServer] {
        _ = try await viewable(device)
        return shared.iceServers.servers(for: Hex.random(byteCount: 8), at: WallClock.milliseconds() / 1000)
    }

    func openBrowserCall(_ device: String, offer: String) async throws -> RelayedCalls.Answer {
        let entry = try await viewable(device)
        guard let device = DeviceID(rawValue: entry.id) else { throw IoTError(.targetNotFound) }
        // The media do not pass here, so the call holds a right of its own, which ends it.
        let id = RelayedCalls.makeID()
        let right = shared.leases.begin(caller) { [relayed = shared.relayed] in await relayed.close(id) }
        right.needs(device: entry.id)
        right.keep(try take(.calls))
        return try await shared.relayed.open(
            id, device: device, source: 0, offer: offer, as: principal, right: right)
    }

    func trickle(_ id: String, iceUfrag: String?, candidates: [String]) async throws {
        let call = try call(id)
        guard iceUfrag == nil || iceUfrag == call.iceUfrag else {
            throw IoTError(.actionNotSupported, "a call's ICE cannot be restarted", remedy: "end it and call again")
        }
        for candidate in candidates {
            try await shared.relayed.trickle(id, candidate: candidate)
        }
    }

    func closeBrowserCall(_ id: String) async throws {
        _ = try call(id)
        await shared.relayed.close(id)
    }

    /// A call of the caller's account; another's does not exist.
    private func call(_ id: String) throws(IoTError) -> RelayedCalls.Call {
        let call = try shared.relayed.call(id)
        guard call.account == principal else {
            throw IoTError(.notFound, "there is no such call, or it is over", remedy: "call again")
        }
        try caller.require(device: call.device.rawValue)
        return call
    }
}
