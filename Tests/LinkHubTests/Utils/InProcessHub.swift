import Crypto
import Foundation
import IoTCore
import IoTLink
import NIOConcurrencyHelpers
import ThingModel

@testable import LinkHub

/// A hub without a broker: messages go directly to the service, and replies are collected.
final class InProcessHub: Sendable {
    private struct State {
        var waiters: [String: CheckedContinuation<LinkReply, Never>] = [:]
    }

    let store: SQLiteHubStore
    let service: HubService
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - onDeliver: Called before the outputs of a transaction are delivered.
    ///   - wrap: Returns the store that the hub uses in place of the SQLite store.
    init(
        directory: TemporaryDirectory, limits: HubLimits = HubLimits(),
        onDeliver: @escaping @Sendable ([HubOutput]) -> Void = { _ in },
        wrap: (SQLiteHubStore) -> any HubStore = { $0 }
    ) throws {
        let store = try SQLiteHubStore(path: directory.path + "/hub.sqlite")
        self.store = store
        let key = try HubKey(dataDirectory: directory.path)
        let state = state
        service = HubService(
            store: wrap(store), state: try store.load(), authority: TokenAuthority(key: key), limits: limits
        ) { outputs in
            onDeliver(outputs)
            for case .message(_, let payload) in outputs {
                for case .reply(let reply) in EnvelopeBatch.parse(payload).envelopes {
                    let waiter = state.withLockedValue { $0.waiters.removeValue(forKey: reply.id) }
                    waiter?.resume(returning: reply)
                }
            }
        }
    }

    func send(_ address: LinkAddress, _ envelope: Envelope) throws {
        service.receive(UplinkMessage(address: address, payload: try envelope.serialized()))
    }

    func request(
        _ address: LinkAddress, _ method: String, _ params: JSONValue = [:], id: String = RequestID.random()
    ) async throws -> LinkReply {
        let wall = HubTime.now().wall
        let bytes = try Envelope.request(
            LinkRequest(id: id, method: method, params: params, t: wall, deadline: wall + 30_000)
        ).serialized()
        return await withCheckedContinuation { continuation in
            state.withLockedValue { $0.waiters[id] = continuation }
            service.receive(UplinkMessage(address: address, payload: bytes))
        }
    }

    /// An owner with a session, and devices that have logged in once and are offline.
    func prepare(devices names: [String] = ["front"]) async throws -> (owner: LinkAddress, devices: [DeviceID]) {
        let owner = AccessID(rawValue: "owner")!
        let devices = try await service.perform { core, time throws(IoTError) in
            if core.state.users[owner] == nil { try core.addUser(owner, at: time) }
            var devices: [DeviceID] = []
            for name in names {
                if let known = core.state.names[name] {
                    devices.append(known)
                    continue
                }
                let device = try core.addDevice(named: name)
                try core.bind(owner, device, .owner, at: time)
                devices.append(device)
            }
            return devices
        }
        for device in devices {
            let address = LinkAddress.random(.device(device))
            _ = try await request(address, "session.begin")
            _ = try await request(address, "model.login", try ModelLogin.sample().json)
            try send(address, .push(LinkPush(method: "session.end")))
        }
        let address = LinkAddress.random(.user(owner))
        _ = try await request(address, "session.begin")
        return (address, devices)
    }

    func stop() async {
        await service.stop()
        store.close()
    }
}
