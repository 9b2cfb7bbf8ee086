import IoTCore
import IoTLink
import NIOCore
import Testing
import ThingModel

@testable import LinkHub

@Suite("Grants for a device's own network, and what was written there")
struct LANGrantTests {
    private let key = DeviceKey().publicKey.fingerprint

    private func claims(_ hub: inout CoreFixture, _ user: LinkAddress) throws -> LANGrantClaims {
        let query = LANGrantQuery(device: hub.front, key: key)
        let answer = try #require(try hub.request(user, "lan.grant", query.json)?.result)
        let grant = try LANMethod.grant.result(answer)
        let claims = try #require(hub.core.authority.verify(grant.token, as: LANGrantClaims.self))
        #expect(grant.expires == claims.exp)
        return claims
    }

    @Test("A grant has the binding's actions and the gateway's key, and is valid for a week")
    func grant() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let owner = try claims(&hub, hub.owner)
        #expect(owner.sub == .device(hub.front) && owner.from == hub.owner.principal && owner.key == key)
        #expect(owner.actions == .all && owner.owner && owner.exp - hub.time.seconds == 604_800)
        let guest = try claims(&hub, hub.guest)
        #expect(guest.actions == .view && !guest.owner)
        #expect(
            try hub.request(hub.stranger, "lan.grant", LANGrantQuery(device: hub.front, key: key).json)?.code
                == .relationInvalid)
        let wrong = try hub.request(hub.owner, "lan.grant", ["device": "front", "key": "SHA256:x"])
        #expect(wrong?.code == .invalidRequest)
    }

    @Test("A temporary account's grant ends with it, and an account for one call gets none")
    func temporary() throws {
        for (oneCall, code) in [(false, ErrorCode.success), (true, .relationInvalid)] {
            var hub = try CoreFixture()
            try hub.bringEverybodyOnline()
            let params: JSONValue = ["device": "front", "ttlSeconds": 60, "oneCall": .bool(oneCall)]
            let made = try hub.request(hub.owner, "user.createTemporary", params)?.result
            let user = try #require(made?["accessId"]?.stringValue.flatMap { AccessID(rawValue: $0) })
            let address = LinkAddress.random(.user(user))
            _ = try hub.request(address, "session.begin")
            let answer = try hub.request(address, "lan.grant", LANGrantQuery(device: hub.front, key: key).json)
            #expect(answer?.code == code)
            if !oneCall { #expect(try claims(&hub, address).exp == hub.time.seconds + 60) }
        }
    }

    @Test(
        "Whoever loses a right, the device learns it, and grants from before are not valid",
        arguments: [
            "unbind", "leave", "narrow", "remove",
        ])
    func withdrawn(_ how: String) throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let wide: JSONValue = ["device": "front", "user": "guest", "actions": ["view", "talk"]]
        #expect(try hub.request(hub.owner, "device.bind", wide)?.code == .success)
        let old = try claims(&hub, hub.guest)
        let user: JSONValue = ["device": "front", "user": "guest"]
        var sent: [Sent] = []
        switch how {
        case "unbind": sent = try hub.sendRequest(hub.owner, "device.unbind", user)
        case "leave": sent = try hub.sendRequest(hub.guest, "device.unbind", ["device": "front"])
        case "narrow": sent = try hub.sendRequest(hub.owner, "device.bind", user)
        default: hub.core.removeUser(hub.guest.principal.accessID!, bindingsEnd: .removed, at: hub.time)
        }
        let pushes = sent.filter { $0.address == hub.camera }.compactMap { sent -> RightsWithdrawn? in
            guard case .push(let push) = sent.envelope else { return nil }
            return LANMethod.withdrawn.parameters(of: push)
        }
        if how != "remove" { #expect(pushes.map(\.user) == [hub.guest.principal]) }
        let again = try hub.request(hub.camera, "session.begin")?.result
        let ended = try #require(again?["grantsEnded"]?.integerValue)
        #expect(ended >= old.iat)
        // One of the same second is valid.
        #expect(try claims(&hub, hub.owner).iat > ended)
    }

    @Test("The other users of the device are told, so that they ask for new grants")
    func others() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let user: JSONValue = ["device": "front", "user": "guest"]
        let sent = try hub.sendRequest(hub.owner, "device.unbind", user)
        let told = sent.filter { sent in
            guard case .push(let push) = sent.envelope else { return false }
            return LANMethod.ended.parameters(of: push)?.device == hub.front.rawValue
        }
        #expect(told.map(\.address) == [hub.owner])
    }

    @Test("A second withdrawal in the same second withdraws grants that were issued after the first")
    func twice() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let user: JSONValue = ["device": "front", "user": "guest"]
        #expect(try hub.request(hub.owner, "device.unbind", user)?.code == .success)
        #expect(try hub.request(hub.owner, "device.bind", user)?.code == .success)
        let between = try claims(&hub, hub.guest)
        #expect(try hub.request(hub.owner, "device.unbind", user)?.code == .success)
        let ended = try #require(try hub.request(hub.camera, "session.begin")?.result["grantsEnded"]?.integerValue)
        #expect(between.iat <= ended)
        #expect(try claims(&hub, hub.owner).iat > ended)
    }

    @Test("An account that expires withdraws no grant of others: its own expires with it")
    func expiredAccount() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let params: JSONValue = ["device": "front", "ttlSeconds": 60]
        #expect(try hub.request(hub.owner, "user.createTemporary", params)?.code == .success)
        hub.advance(.seconds(120))
        _ = hub.timeout()
        #expect(hub.core.state.users.values.allSatisfy { $0.kind != .temporary })
        #expect(try hub.request(hub.camera, "session.begin")?.result["grantsEnded"] == 0)
    }

    @Test("A request that a device had got before it went offline says so, so that nobody repeats it")
    func delivered() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        _ = try hub.request(hub.camera, "model.login", try .sampleLogin())
        let order: JSONValue = ["device": "front", "path": "Action.cameraOn", "value": ["ctlVal": 0]]
        #expect(try hub.sendRequest(hub.owner, "action.take", order).contains { $0.address == hub.camera })
        let sent = try hub.send(hub.camera, .push(LinkPush(method: "session.end")))
        let reply = try #require(sent.replies(to: hub.owner).first)
        guard case .failure(let error) = reply.outcome else { return }
        #expect(error.code == .deviceOffline && error.isAfterDelivery)
        let refused = try #require(try hub.request(hub.owner, "action.take", order))
        guard case .failure(let error) = refused.outcome else { return }
        #expect(error.code == .deviceOffline && !error.isAfterDelivery)
    }

    @Test("More rights withdraw nothing")
    func widened() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let wide: JSONValue = ["device": "front", "user": "guest", "actions": ["view", "talk"]]
        #expect(try hub.request(hub.owner, "device.bind", wide)?.code == .success)
        #expect(try hub.request(hub.camera, "session.begin")?.result["grantsEnded"] == 0)
    }

    @Test("What was written on the network is written here, unless it is older, or its user may not write any more")
    func written() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        _ = try hub.request(hub.camera, "model.login", try .sampleLogin())
        let t = hub.time.seconds
        func write(_ value: Int64, by user: String = "u/owner", at t: Int64) -> JSONValue {
            [
                "user": .string(user), "path": "ProWritable.quality.setVal", "value": .integer(value), "t": .integer(t),
            ]
        }
        #expect(try hub.request(hub.camera, "lan.written", write(7, at: t - 10))?.code == .success)
        let path: JSONValue = ["device": "front", "path": "ProWritable.quality"]
        let read = try hub.request(hub.owner, "property.read", path)?.result["value"]
        #expect(read?["setVal"] == 7 && read?["t"] == .integer(t - 10))
        #expect(try hub.request(hub.camera, "lan.written", write(8, at: t - 11))?.code == .versionConflict)
        #expect(try hub.request(hub.camera, "lan.written", write(8, by: "u/guest", at: t))?.code == .relationInvalid)
        // A device with a clock that is ahead does not write into the future.
        #expect(try hub.request(hub.camera, "lan.written", write(9, at: t + 1_000_000))?.code == .success)
        #expect(try hub.request(hub.owner, "property.read", path)?.result["value"]?["t"] == .integer(t))
        for wrong in [write(-1, at: t), write(7, by: "d/x", at: t)] {
            #expect(try hub.request(hub.camera, "lan.written", wrong)?.code != .success)
        }
        var other = write(7, at: t)
        other["path"] = "ProReadonly.viewers.stVal"
        #expect(try hub.request(hub.camera, "lan.written", other)?.code == .pathInvalid)
    }
}
