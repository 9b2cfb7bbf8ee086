import IoTCore
import IoTLink
import NIOCore
import Testing

@testable import LinkHub

@Suite struct SubscriptionTests {
    private func share(
        _ hub: inout CoreFixture, by giver: LinkAddress, _ params: JSONValue = ["device": "front"]
    ) throws -> JSONValue {
        try #require(try hub.request(giver, "device.share", params)?.result["token"])
    }

    @Test("An account binds itself with a token that was passed on; the token gives its actions and no more")
    func subscribes() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let bob = hub.stranger
        let token = try share(&hub, by: hub.owner, ["device": "front", "actions": ["view", "talk"]])
        #expect(try hub.request(bob, "device.show", ["device": "front"])?.code == .targetNotFound)
        let bound = try hub.request(bob, "device.subscribe", ["token": token])?.result
        #expect(bound?["role"] == "guest" && bound?["actions"] == ["view", "talk"])
        #expect(try hub.request(bob, "device.show", ["device": "front"])?.code == .success)
        #expect(try hub.request(bob, "device.subscribe", ["token": token])?.code == .alreadyBound)

        // Another token adds to the existing actions.
        let more = try share(&hub, by: hub.owner, ["device": "front", "actions": ["control"]])
        let both = try hub.request(bob, "device.subscribe", ["token": more])?.result
        #expect(both?["actions"] == ["view", "talk", "control"])
        #expect(try hub.request(hub.owner, "device.subscribe", ["token": more])?.code == .alreadyBound)
    }

    @Test("It ends when it expires, and when its issuer loses the right to share the device")
    func ends() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let bob = hub.stranger
        let short = try share(&hub, by: hub.owner, ["device": "front", "ttlSeconds": 5])
        hub.advance(.seconds(6))
        #expect(try hub.request(bob, "device.subscribe", ["token": short])?.code == .provisioningTokenExpired)

        let token = try share(&hub, by: hub.owner)
        let force: JSONValue = ["device": "front", "user": "guest", "role": "owner", "force": true]
        #expect(try hub.request(hub.owner, "device.bind", force)?.code == .success)
        #expect(try hub.request(bob, "device.subscribe", ["token": token])?.code == .provisioningTokenExpired)
    }

    @Test(
        "A token does not bring back what was withdrawn after its issue, by unbinding, fewer actions or removal",
        arguments: ["unbind", "narrow", "remove"])
    func withdrawn(_ how: String) throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let bob = hub.stranger
        let time = hub.time
        let token = try share(&hub, by: hub.owner, ["device": "front", "actions": ["view", "talk"]])
        #expect(try hub.request(bob, "device.subscribe", ["token": token])?.code == .success)
        let user: JSONValue = ["device": "front", "user": "stranger"]
        switch how {
        case "unbind": #expect(try hub.request(hub.owner, "device.unbind", user)?.code == .success)
        case "narrow": #expect(try hub.request(hub.owner, "device.bind", user)?.code == .success)
        default:
            hub.core.removeUser(bob.principal.accessID!, bindingsEnd: .removed, at: time)
            try hub.core.addUser(bob.principal.accessID!, at: time)
            _ = try hub.request(bob, "session.begin")
        }
        #expect(try hub.request(bob, "device.subscribe", ["token": token])?.code == .provisioningTokenExpired)
        #expect(try hub.request(hub.guest, "device.subscribe", ["token": token])?.code == .provisioningTokenExpired)
        // A token that is issued in the same second is valid.
        let next = try share(&hub, by: hub.owner, ["device": "front", "actions": ["view", "talk"]])
        #expect(try hub.request(bob, "device.subscribe", ["token": next])?.code == .success)
    }

    @Test("A user who unbinds itself does not withdraw the invitations of others")
    func leaves() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let token = try share(&hub, by: hub.owner)
        #expect(try hub.request(hub.guest, "device.unbind", ["device": "front"])?.code == .success)
        #expect(try hub.request(hub.stranger, "device.subscribe", ["token": token])?.code == .success)
    }

    @Test("Other tokens of this hub, and tokens of another hub, are refused")
    func foreign() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let bob = hub.stranger
        var other = try CoreFixture()
        try other.bringEverybodyOnline()
        let strange = try share(&other, by: other.owner)
        let call = try #require(
            try hub.request(hub.owner, "call.token", ["device": "front", "kind": 1, "actions": ["view"]])?
                .result["token"])
        for token in [strange, call, "", "a.b.c"] {
            #expect(try hub.request(bob, "device.subscribe", ["token": token])?.code != .success)
        }
        #expect(try hub.request(bob, "device.subscribe", ["token": strange])?.code == .provisioningTokenFailed)
        #expect(try hub.request(bob, "device.show", ["device": "front"])?.code == .targetNotFound)
    }
}
