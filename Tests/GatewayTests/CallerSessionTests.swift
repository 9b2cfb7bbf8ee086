import GatewayAPI
import IoTCore
import IoTLink
import MediaChannel
import Synchronization
import Testing

@testable import Gateway

/// What each part of a session does for each caller, with a scripted hub.
@Suite struct CallerSessionTests {
    private static let front = "00112233445566778899aabbccddeeff"
    private static let back = "ffeeddccbbaa99887766554433221100"

    /// A hub whose accounts may view two devices. Its devices return the resource `photo` for each action.
    private let link = ScriptedLink { request throws(IoTError) in
        switch request.method {
        case "device.list":
            let devices = [(front, "front"), (back, "back")].map { id, name -> JSONValue in
                ["id": .string(id), "name": .string(name), "role": "guest", "online": true, "actions": ["view"]]
            }
            return ["devices": .array(devices), "more": false]
        case "action.take": return ["value": ["resource": "photo"]]
        case "property.read": return ["value": 1, "version": 2]
        default: return [:]
        }
    }

    private var asked: [ScriptedLink.Request] { link.requests.filter { $0.method != "device.list" } }

    @Test("Requests are sent in the account's name; the daemon's own account needs none")
    func accounts() async throws {
        try await withGateway(link) { gateway in
            _ = try await gateway.session(of: "guest").properties.read("front", path: "")
            _ = try await gateway.session(of: "owner").properties.read("front", path: "")
            try await gateway.session(of: "guest").users.remove(AccessID(rawValue: "other")!, requestID: nil)
            try await gateway.session(of: "guest").keys.revoke("1", requestID: nil)
        }
        let guest = Principal("u/guest")
        #expect(asked.map(\.account) == [guest, nil, guest, guest])
    }

    @Test("A token for one device cannot use another one, and the hub is not asked about it")
    func scope() async throws {
        try await withGateway(link) { gateway in
            let session = gateway.session(of: "guest", scope: Caller.Scope(devices: [Self.front]))
            _ = try await session.properties.read("front", path: "")
            #expect(asked.map { $0.params["device"]?.stringValue } == [Self.front])
            let before = asked.count
            for device in ["back", Self.back] {
                let refusals: [() async throws -> Void] = [
                    { _ = try await session.properties.read(device, path: "") },
                    { _ = try await session.properties.watch(device, path: "") },
                    { _ = try await session.devices.show(device) },
                    { try await session.devices.remove(device, requestID: nil) },
                    { _ = try await session.devices.picture(of: device, nil) },
                    { _ = try await session.bindings.list(of: device, .all) },
                    {
                        _ = try await session.events.stored(
                            StoredEventQuery(
                                device: device, topic: nil, from: nil, to: nil, before: nil, limit: nil))
                    },
                    { _ = try await session.events.follow([], device: device, after: nil) },
                    { _ = try await session.channels.open(ChannelRequest(device: device)) },
                    { _ = try await session.calls.iceServers(device) },
                    { _ = try await session.calls.open(device, BrowserWish(offer: "")) },
                ]
                for refusal in refusals {
                    let error = await #expect(throws: IoTError.self) { try await refusal() }
                    #expect(error?.code == .forbidden)
                }
            }
            #expect(asked.count == before)
            #expect(try await session.devices.list(of: nil, .all).elements.map(\.name) == ["front"])
        }
    }

    @Test("Idempotency keys of different accounts do not collide, also for several responses")
    func requestKeys() async throws {
        try await withGateway(link) { gateway in
            for account in ["guest", "other"] {
                let message = DeviceMessage(data: [1], responses: .many, timeout: .seconds(1), wake: nil)
                _ = try await gateway.session(of: account).messages.send("front", message, requestID: "k")
            }
        }
        let ids = asked.compactMap(\.id)
        #expect(ids.count == 2 && Set(ids + ["k"]).count == 3)
    }

    @Test("A device's events are deleted until no matching one is left")
    func eventDeletion() async throws {
        let rounds = Mutex(0)
        let link = ScriptedLink { _ throws(IoTError) in
            let round = rounds.withLock { rounds in
                rounds += 1
                return rounds
            }
            return ["deleted": 1_000, "more": .bool(round < 3)]
        }
        try await withGateway(link) { gateway in
            let deletion = StoredEventDeletion(device: "front", before: 5)
            let answer = try await gateway.session(of: "guest").events.deleteStored(deletion)
            #expect(answer.deleted == 3_000)
        }
        #expect(link.requests.map { $0.params["before"] } == [5, 5, 5])
    }

    @Test("The hub gets the id of the asking API token, so that nothing created with it exceeds it")
    func within() async throws {
        try await withGateway(link) { gateway in
            let session = gateway.session(of: "guest")
            // The responses are empty, which does not matter here.
            _ = try? await session.bindings.share("front", ShareRequest(), requestID: nil)
            _ = try? await session.tokens.create(TokenRequest(kind: .api, ttlSeconds: 60), requestID: nil)
            _ = try? await session.keys.create(KeyRequest(name: "tv", ttlSeconds: 60), requestID: nil)
        }
        #expect(asked.map { $0.params["within"] } == ["guest", "guest", "guest"])
    }

    @Test("A picture that an action named is only for the account that took the action")
    func resources() async throws {
        try await withGateway(link) { gateway in
            let guest = gateway.session(of: "guest")
            let answer = try await guest.properties.takeAction(
                "front", path: "Action.photo", value: .null, timeout: .seconds(1), requestID: nil)
            #expect(answer.value["resource"] == "photo", "the server makes the address")
            #expect(gateway.resources.owner(of: "photo")?.rawValue == "guest")
            // No picture is stored here. Only the owner of the name gets that reason.
            for (account, message) in [("guest", "older than ten minutes, or kept"), ("other", "no such resource")] {
                let error = await #expect(throws: IoTError.self) {
                    try await gateway.session(of: account).channels.resource("photo")
                }
                #expect(error?.code == .notFound && error?.message.contains(message) == true)
            }
        }
    }

    @Test("A caller cannot see calls of other accounts")
    func others() async throws {
        try await withGateway(link) { gateway in
            let calling = Task {
                _ = try await gateway.session(of: "other").calls.open(
                    "front", BrowserWish(offer: GatewaySharesTests.offer))
            }
            while gateway.relayed.all.isEmpty { await Task.yield() }
            let id = try #require(gateway.relayed.all.first?.id)
            let guest = gateway.session(of: "guest")
            let error = await #expect(throws: IoTError.self) {
                try await guest.calls.trickle(id, iceUfrag: nil, candidates: [])
            }
            #expect(error?.code == .notFound)
            #expect(gateway.relayed.all.map(\.id) == [id])
            calling.cancel()
            await #expect(throws: (any Error).self) { try await calling.value }
        }
    }
}
