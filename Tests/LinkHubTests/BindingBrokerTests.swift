import IoTCore
import IoTLink
import LinkHub
import Testing
import ThingModel

@Suite("Withdrawn rights, over the real broker", .timeLimit(.minutes(1)))
struct BindingBrokerTests {
    @Test("Unbinding a user ends its call on both sides with 20014 within a second; removing its account kicks it")
    func callEnds() async throws {
        try await withHub(in: TemporaryDirectory()) { hub in
            let (_, _, device, deviceToken) = try await hub.ownerAndDevice()
            let bob = try #require(AccessID(rawValue: "bob"))
            try await hub.createUser(bob)
            try await hub.bind(bob, to: device, role: .guest, actions: [.view, .talk])
            let token = try await hub.issueToken(.user(bob), lifetime: .seconds(600))
            let (ends, feed) = AsyncStream.makeStream(of: (side: String, request: LinkRequest).self)
            try await withSession(
                hub, .device(device), deviceToken,
                prepare: { session in
                    session.handle("call.connect") { _ in [:] }
                    session.handle("call.end") { request in
                        feed.yield(("device", request))
                        return [:]
                    }
                }
            ) { _ in
                try await withSession(
                    hub, .user(bob), token,
                    prepare: { session in
                        session.handle("call.end") { request in
                            feed.yield(("user", request))
                            return [:]
                        }
                    }
                ) { user in
                    let id = JSONValue.string(device.rawValue)
                    let granted = try await user.request(
                        "call.token", ["device": id, "kind": "monitor", "actions": ["view"]])
                    _ = try await user.request(
                        "call.connect",
                        ["device": id, "kind": "monitor", "session": "c1", "token": granted["token"] ?? .null])
                    try await hub.unbind(bob, from: device)
                    var sides: [String: Principal?] = [:]
                    for await (side, request) in ends {
                        #expect(request.params["code"] == 20014 && request.params["session"] == "c1")
                        sides[side] = request.from
                        if sides.count == 2 { break }
                    }
                    #expect(sides == ["user": .device(device), "device": .user(bob)])

                    try await hub.removeUser(bob)
                    try await user.wait(for: .kickOff)
                }
            }
        }
    }

    @Test("A device reads a call's token with the keys that it received when its session began")
    func token() async throws {
        try await withHub(in: TemporaryDirectory()) { hub in
            let (owner, userToken, device, deviceToken) = try await hub.ownerAndDevice()
            try await withSession(
                hub, .device(device), deviceToken,
                prepare: { session in
                    session.handle("call.connect") { [unowned session] request in
                        let claims = session.tokenKeys?.payload(of: request.params["token"]?.stringValue ?? "")
                        return ["claims": claims ?? .null]
                    }
                }
            ) { _ in
                try await withSession(hub, owner, userToken) { user in
                    let id = JSONValue.string(device.rawValue)
                    let granted = try await user.request("call.token", ["device": id, "actions": ["view"]])
                    let answer = try await user.request(
                        "call.connect", ["device": id, "session": "c1", "token": granted["token"] ?? .null])
                    #expect(answer["claims"]?["sub"] == .string("d/\(device)"))
                    #expect(answer["claims"]?["exp"] == granted["expires"])
                    #expect(user.tokenKeys == nil)
                }
            }
        }
    }
}
