import GatewayAPI
import IoTCore
import MediaChannel

extension AccountGateway {
    func openBrowserCall(_ device: String, offer: String) async throws -> RelayedCalls.Answer {
        let entry = try await find(device)
        guard let device = DeviceID(rawValue: entry.id) else { throw IoTError(.targetNotFound) }
        guard entry.actions.contains(.view) else {
            throw IoTError(.relationInvalid, "this account may not view the device")
        }
        var token: String?
        if case .token(let id) = caller.credentials { token = id }
        return try await shared.registry.relayed.open(
            device: device, source: 0, offer: offer, as: principal, right: token)
    }

    func trickle(_ id: String, iceUfrag: String?, candidates: [String]) async throws {
        let call = try call(id)
        guard iceUfrag == nil || iceUfrag == call.iceUfrag else {
            throw IoTError(.actionNotSupported, "a call's ICE cannot be restarted", remedy: "end it and call again")
        }
        for candidate in candidates {
            try await shared.registry.relayed.trickle(id, candidate: candidate)
        }
    }

    func closeBrowserCall(_ id: String) async throws {
        _ = try call(id)
        await shared.registry.relayed.close(id)
    }

    /// A call of the caller's account; another's does not exist.
    private func call(_ id: String) throws(IoTError) -> RelayedCalls.Call {
        let call = try shared.registry.relayed.call(id)
        guard call.account == principal else {
            throw IoTError(.notFound, "there is no such call, or it is over", remedy: "call again")
        }
        try caller.require(device: call.device.rawValue)
        return call
    }
}

extension LocalGateway {
    /// Ends browsers' calls within some seconds of their API token's end. Their media do not pass here, so nothing else
    /// would; that of the binding ends them by the hub.
    func watchBrowserCalls() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(10))
            let calls = registry.relayed.all.filter { $0.right != nil }
            for (account, calls) in Dictionary(grouping: calls, by: \.account) {
                let client = HubClient(link: link, account: account)
                guard
                    let tokens = try? await client.list(
                        TokenDescription.self, "token.list", key: "tokens", name: "id")
                else { continue }
                let now = WallClock.milliseconds() / 1000
                let good = Set(tokens.filter { $0.expires > now }.map(\.id))
                for call in calls where !good.contains(call.right ?? "") { await registry.relayed.close(call.id) }
            }
        }
    }
}
