import IoTCore
import IoTLink
import LinkHub
import Testing
import ThingModel

@Suite("A token at the end of its lifetime", .timeLimit(.minutes(3)))
struct ExpiredTokenTests {
    // Ten seconds, because on a busy machine a session may take a while to be online.

    @Test("It ends its session as tokenFailed, admits no client again, and does not affect other tokens")
    func expires() async throws {
        let directory = TemporaryDirectory()
        let (principal, token) = try await withStrictHub(in: directory) { hub in
            let (owner, ownerToken, _, _) = try await hub.ownerAndDevice()
            let short = try await hub.issueToken(owner, lifetime: .seconds(10))
            let bystander = RawClient(
                hub.endpoint, userName: try TokenClaims(parsing: ownerToken).id, password: ownerToken)
            #expect(await bystander.waitUntilConnected())

            let seen = try await withSession(hub, owner, short, renewsToken: false) { try await $0.untilTokenFailed() }
            #expect(seen.first?.status == .online, "it was valid until then")
            #expect(seen.last?.cause == .tokenRefused && seen.last?.reason?.code == .tokenRejected)
            let expires = try #require(try TokenClaims(parsing: short).expires)
            #expect(try #require(seen.last).since >= expires * 1_000, "not before its time")

            // The broker no longer knows it.
            let client = RawClient(
                hub.endpoint, userName: try TokenClaims(parsing: short).id, password: short)
            #expect(await client.end().isRefusal)
            let late = try await connect(hub, owner, short)
            #expect(!late.contains { $0.status == .online })
            #expect(late.last?.cause == .tokenRefused && late.last?.reason?.code == .tokenRejected)

            // The same owner's other token can still subscribe.
            let own = LinkAddress.random(owner)
            try bystander.subscribe(own.downTopic)
            #expect(await bystander.grant(of: own.downTopic) == true)
            bystander.disconnect()
            return (owner, short)
        }
        // A restarted broker does not know it either.
        try await withStrictHub(in: directory) { hub in
            let late = try await connect(hub, principal, token)
            #expect(late.last?.status == .tokenFailed && !late.contains { $0.status == .online })
        }
    }

    @Test("A session with an expired token goes on with a new one")
    func renewed() async throws {
        try await withStrictHub(in: TemporaryDirectory()) { hub in
            let (_, _, device, _) = try await hub.ownerAndDevice()
            let short = try await hub.issueToken(.device(device), lifetime: .seconds(10))
            try await withSession(hub, .device(device), short, renewsToken: false) { session in
                _ = try await session.untilTokenFailed()
                session.updateToken(.value(try await hub.issueToken(.device(device), lifetime: .seconds(600))))
                try await session.wait(for: .online)
                _ = try await session.request("model.login", try ModelLogin.sample().json)
            }
        }
    }

    /// Runs a session with this token until it has failed.
    private func connect(
        _ hub: LinkHub, _ principal: Principal, _ token: String
    ) async throws -> [LinkStatusChange] {
        let session = LinkSession(
            configuration: LinkConfiguration(principal: principal, token: .value(token), endpoint: hub.endpoint),
            logger: quietLogger)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await session.run() }
            defer { group.cancelAll() }
            return try await session.untilTokenFailed()
        }
    }

    /// A hub on a machine with one clock: a token ends with its last second.
    private func withStrictHub<Result: Sendable>(
        in directory: TemporaryDirectory, _ body: @Sendable (LinkHub) async throws -> Result
    ) async throws -> Result {
        var limits = HubLimits()
        limits.tokenLeeway = 0
        return try await withHub(in: directory, limits: limits, body)
    }
}

extension LinkSession {
    /// The session's status changes until its token is refused.
    fileprivate func untilTokenFailed() async throws -> [LinkStatusChange] {
        var seen: [LinkStatusChange] = []
        for await change in statusChanges() {
            seen.append(change)
            if change.status == .tokenFailed { return seen }
        }
        throw IoTError(.linkUnavailable, "the session ended as \(current), and its token never failed")
    }
}

extension MQTTEnd? {
    fileprivate var isRefusal: Bool {
        if case .credentialsRefused = self { true } else { false }
    }
}
