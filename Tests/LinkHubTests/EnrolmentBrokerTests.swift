import IoTCore
import IoTLink
import LinkHub
import Testing

@Suite("Enrolment and the end of tokens, over the real broker", .timeLimit(.minutes(1)))
struct EnrolmentBrokerTests {
    /// A box that exchanges a string by hand.
    private struct Box {
        let client: RawClient
        let address: LinkAddress
        let secret: String

        init(_ hub: LinkHub, _ text: String) throws {
            let query = try #require(text.split(separator: "?").last).dropFirst("enrol=".count)
            let parts = query.split(separator: ".").map(String.init)
            address = .random(try #require(Principal(kind: .enrolment, id: parts[0])))
            secret = parts[1]
            client = RawClient(
                hub.endpoint, userName: address.principal.id, password: secret)
        }

        func exchange(id: String) throws {
            try client.publish(
                address.upTopic, #"{"id":"\#(id)","method":"enrol.exchange","params":{},"t":0,"deadline":0}"#)
        }

        func reply() async -> LinkReply? {
            await client.first { event in
                if case .reply(let reply)? = event.envelope { reply } else { nil }
            }
        }
    }

    @Test("A box exchanges its string for tokens that work, once; its credential opens no other topic")
    func exchange() async throws {
        try await withHub(in: TemporaryDirectory()) { hub in
            let (_, _, device, _) = try await hub.ownerAndDevice()
            let bob = try #require(AccessID(rawValue: "bob"))
            try await hub.createUser(bob)
            let box = try Box(hub, try await hub.enrol(user: bob, devices: [device]))
            #expect(await box.client.waitUntilConnected())
            for foreign in ["iotlink/1/down/u/bob/+", "iotlink/1/up/#", "#", "iotlink/1/down/e/+/+"] {
                try box.client.subscribe(foreign)
                #expect(await box.client.grant(of: foreign) == false, "\(foreign)")
            }
            try box.client.subscribe(box.address.downTopic)
            #expect(await box.client.grant(of: box.address.downTopic) == true)
            try box.exchange(id: "x1")
            let reply = try #require(await box.reply())
            #expect(reply.code == .success)
            let token = try #require(reply.result["user"]?["token"]?.stringValue)
            let deviceToken = try #require(reply.result["devices"]?.arrayValue?.first?["token"]?.stringValue)
            try await withSession(hub, .user(bob), token) { session in
                let list = try await session.request("device.list")
                #expect(list["devices"] == [])
            }
            try await withSession(hub, .device(device), deviceToken) { _ in }

            try box.exchange(id: "x2")
            #expect(await box.reply()?.code == .provisioningTokenExpired)
            try box.client.publish(box.address.upTopic, #"{"method":"session.end"}"#)
            #expect(await box.client.end() != nil, "the broker ends it")
            let again = try Box(hub, "x?enrol=\(box.address.principal.id).\(box.secret)")
            let end = await again.client.end()
            guard case .credentialsRefused = end else {
                Issue.record("a used string was accepted: \(String(describing: end))")
                return
            }
        }
    }

    @Test("The broker refuses a wrong secret and an expired string", .timeLimit(.minutes(1)))
    func refused() async throws {
        try await withHub(in: TemporaryDirectory()) { hub in
            let owner = try await hub.ensureOwnAccount()
            let text = try await hub.enrol(user: owner, lifetime: .seconds(1))
            let good = try Box(hub, text)
            let wrong = try Box(hub, "x?enrol=\(good.address.principal.id).00112233445566778899aabbccddeeff")
            guard case .credentialsRefused = await wrong.client.end() else {
                Issue.record("a wrong secret was accepted")
                return
            }
            // It was connected, or came too late; either way its connection ends soon.
            #expect(await good.client.end() != nil)
            let late = try Box(hub, text)
            guard case .credentialsRefused = await late.client.end() else {
                Issue.record("an expired string was accepted")
                return
            }
        }
    }

    @Test("The connection of an expired or revoked token is ended, but not before its time", .timeLimit(.minutes(1)))
    func endOfToken() async throws {
        try await withHub(in: TemporaryDirectory()) { hub in
            let owner = try await hub.ensureOwnAccount()
            for isRevoked in [false, true] {
                let token = try await hub.issueToken(.user(owner), lifetime: .seconds(isRevoked ? 600 : 2))
                let claims = try TokenClaims(parsing: token)
                let client = RawClient(hub.endpoint, userName: claims.id, password: token)
                #expect(await client.waitUntilConnected())
                let due: Int64
                if isRevoked {
                    due = WallClock.milliseconds()
                    try await hub.revokeToken(id: claims.id)
                } else {
                    due = try #require(claims.expires) * 1_000
                }
                #expect(await client.end() != nil)
                #expect(WallClock.milliseconds() >= due)
            }
        }
    }
}
