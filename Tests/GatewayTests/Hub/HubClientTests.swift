import GatewayAPI
import IoTCore
import IoTLink
import Synchronization
import Testing

@testable import Gateway

@Suite struct HubClientTests {
    @Test("A long list is read page by page, in the asking account's name")
    func pages() async throws {
        let link = ScriptedLink { request throws(IoTError) in
            let after = request.params["after"]?.stringValue
            let user = after == nil ? "a" : "b"
            // Rows that this version cannot decode also count for the position.
            let odd: JSONValue = ["accessId": .string(user + "+"), "kind": "robot"]
            return ["users": [["accessId": .string(user), "kind": "member"], odd], "more": .bool(after == nil)]
        }
        let account = try #require(Principal("u/guest"))
        let client = HubClient(link: link, account: account)
        let users = try await client.page(UserMethod.list, .all)
        #expect(users.elements.map(\.accessId) == ["a", "b"])
        #expect(users.next == nil)
        #expect(
            link.requests == [
                .init(method: "user.list", params: [:], account: account),
                .init(method: "user.list", params: ["after": "a+"], account: account),
            ])
    }

    @Test("A requested page takes one request, and contains the start of the next one")
    func page() async throws {
        let link = ScriptedLink { _ throws(IoTError) in
            ["users": [["accessId": "c", "kind": "member"]], "more": true]
        }
        let page = try await HubClient(link: link, account: nil).page(
            UserMethod.list, PageRequest(limit: 1, after: "b"))
        #expect(page.elements.map(\.accessId) == ["c"])
        #expect(page.next == "c")
        #expect(link.requests == [.init(method: "user.list", params: ["after": "b", "limit": 1], account: nil)])
    }

    @Test("The same idempotency key of two accounts gives two requests on their shared link")
    func keys() async throws {
        let link = ScriptedLink { _ throws(IoTError) in ["device": "d", "name": "n"] }
        let accounts = [nil, Principal("u/guest"), Principal("u/other")]
        for account in accounts + accounts {
            _ = try await HubClient(link: link, account: account).ask(
                DeviceMethod.create, DeviceCreation(name: "n"), id: "1")
        }
        let ids = try link.requests.map { try #require($0.id) }
        #expect(Set(ids).count == 3)
        #expect(ids.prefix(3) == ids.suffix(3))
        #expect(ids.allSatisfy(RequestID.isValid))
    }

    @Test("A media key allows only what the hub names, and never the rights of an administrator")
    func mediaKeys() async throws {
        let own = try #require(AccessID(rawValue: "owner"))
        let key = try #require(BearerToken(MediaKey.example.utf8))
        let link = ScriptedLink { request throws(IoTError) in
            guard request.method == "key.check" else { throw IoTError(.internalFailure) }
            return ["id": "0123456789", "account": "owner", "kind": "administrator", "expires": 5, "devices": ["d"]]
        }
        let grant = try await HubClient.check(key, link: link, own: own)
        #expect(
            grant
                == TokenGrant(
                    id: "0123456789", account: own, isAdministrator: false, expires: 5,
                    scope: Caller.Scope(devices: ["d"], actions: [])))
        #expect(link.requests.map(\.params) == [["key": .string(MediaKey.example)]])
        // An older hub does not have this method.
        let older = ScriptedLink { _ throws(IoTError) in throw IoTError(.invalidRequest) }
        let error = await #expect(throws: IoTError.self) { try await HubClient.check(key, link: older, own: own) }
        #expect(error?.code == .unauthenticated)
    }

    @Test("A digest of a media key is sent to `key.prove`; an older hub cannot check it")
    func mediaKeyProofs() async throws {
        let own = try #require(AccessID(rawValue: "owner"))
        let text = HTTPDigest(realm: "iotvideod", nonce: "n").authorization(
            username: "0123456789", password: "p", method: "DESCRIBE", uri: "rtsp://h/front", clientNonce: "c")
        let proof = KeyProof(try #require(DigestAuthorization(text)), method: "DESCRIBE")
        let key = try #require(BearerToken(proof))
        let link = ScriptedLink { request throws(IoTError) in
            guard request.method == "key.prove" else { throw IoTError(.internalFailure) }
            return ["id": "0123456789", "account": "guest", "expires": 5, "devices": .null, "actions": ["view"]]
        }
        let grant = try await HubClient.check(key, link: link, own: own)
        #expect(grant.scope.actions == [.view] && grant.account.rawValue == "guest" && !grant.isAdministrator)
        #expect(link.requests.map(\.params) == [proof.json])
        let older = ScriptedLink { _ throws(IoTError) in throw IoTError(.invalidRequest) }
        let error = await #expect(throws: IoTError.self) { try await HubClient.check(key, link: older, own: own) }
        #expect(error?.code == .unauthenticated)
    }

    @Test("A malformed response is 21004")
    func damaged() async throws {
        let client = HubClient(link: ScriptedLink { _ throws(IoTError) in [:] }, account: nil)
        let error = await #expect(throws: IoTError.self) { try await client.devices() }
        #expect(error?.code.rawValue == 21004)
    }

    @Test("Devices carry their actions and owner; unknown actions from a newer hub are left out")
    func devices() async throws {
        let client = HubClient(
            link: ScriptedLink { _ throws(IoTError) in
                [
                    "devices": [
                        [
                            "id": "00112233445566778899aabbccddeeff", "name": "front", "role": "guest", "online": true,
                            "actions": ["view", "levitate"], "owner": "owner",
                        ]
                    ]
                ]
            }, account: nil)
        let device = try #require(try await client.devices().elements.first)
        #expect(device.actions == [.view])
        #expect(device.owner == "owner")
    }
}

@Suite struct GatewayEventPushTests {
    private static let id = String(repeating: "d", count: 32)
    private static let device = JSONValue.string(id)

    private func event(_ method: String, _ params: JSONValue) -> GatewayEvent? {
        GatewayEvent(LinkPush(method: method, params: params))
    }

    @Test("Each push of the hub becomes an event; malformed ones do not")
    func pushes() {
        #expect(
            event(
                "property.update",
                [
                    "device": Self.device, "path": "ProWritable.a", "value": ["setVal": 1], "version": 3,
                    "changes": [["path": "ProWritable.a.setVal", "value": 1]],
                ])
                == .property(
                    PropertyUpdate(
                        device: Self.id, path: "ProWritable.a", value: ["setVal": 1], version: 3,
                        changes: [LeafChange(path: "ProWritable.a.setVal", value: 1)])))
        #expect(
            event("device.event", ["id": 7, "device": Self.device, "topic": "a/b", "body": [1], "t": 5])
                == .event(StoredEvent(id: "7", device: Self.id, topic: "a/b", body: [1], t: 5)))
        #expect(
            event("device.data", ["device": Self.device, "data": "AA=="])
                == .data(DeviceData(device: Self.id, data: "AA==")))
        #expect(
            event("device.unbound", ["device": Self.device, "reason": "forced"])
                == .binding(BindingChange(device: Self.id, bound: false, reason: "forced")))
        #expect(event("device.presence", ["device": Self.device]) == nil)
        #expect(event("device.presence", ["online": true]) == nil)
        #expect(event("session.kick", ["device": Self.device]) == nil)
    }
}
