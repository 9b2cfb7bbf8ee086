import IoTCore
import IoTLink
import Testing

@testable import LinkHub

@Suite("The hub with another broker", .timeLimit(.minutes(1)))
struct HubBrokerTests {
    @Test("It works with any broker: credentials, messages, a restart, and the end")
    func anotherBroker() async throws {
        let directory = TemporaryDirectory()
        let broker = InMemoryBroker()
        let store = try SQLiteHubStore(path: directory.path + "/hub.sqlite")
        let hub = try LinkHub(
            HubConfiguration(dataDirectory: directory.path), lock: try LinkHub.lock(directory.path), store: store,
            state: try store.load(), broker: broker, logger: quietLogger)
        // Calls work before it runs, too.
        let owner = Principal.user(try await hub.ensureOwnAccount())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await hub.run() }
            try await hub.waitUntilReady()
            let (device, token) = try await hub.ensureDevice(name: "front")
            let authority = TokenAuthority(key: try HubKey(dataDirectory: directory.path))
            let id = try #require(authority.verify(token, as: LinkTokenClaims.self)?.jti)
            #expect(broker.knows(id, of: .device(device)))
            let address = LinkAddress.random(owner)
            #expect(try await broker.request(address, "session.begin")?.code == .success)
            let listed = try await broker.request(address, "device.list")
            #expect(listed?.result["devices"]?.arrayValue?.count == 1)
            // The restarted broker has no credentials, and gets them from the hub.
            broker.restart()
            while hub.brokerStarts < 2 { await Task.yield() }
            #expect(broker.knows(id, of: .device(device)))
            #expect(try await broker.request(address, "session.heartbeat")?.code == .success)
            try await hub.revokeToken(id: id)
            #expect(!broker.knows(id, of: .device(device)))
            group.cancelAll()
            try await group.waitForAll()
        }
        // Everything is closed, and the directory can be locked again.
        #expect(throws: Never.self) { try LinkHub.lock(directory.path).release() }
    }

    @Test("The end of the broker ends the hub at once, even during the search of a large database")
    func brokerEnds() async throws {
        let directory = TemporaryDirectory()
        let broker = InMemoryBroker()
        let store = try ScriptedStore(SQLiteHubStore(path: directory.path + "/hub.sqlite"))
        store.setVast()
        let hub = try LinkHub(
            HubConfiguration(dataDirectory: directory.path), lock: try LinkHub.lock(directory.path), store: store,
            state: try await store.load(), broker: broker, logger: quietLogger)
        async let run: Void = hub.run()
        try await hub.waitUntilReady()
        while hub.brokerStarts == 0 { await Task.yield() }
        broker.end(IoTError(.brokerFailed, "gone"))
        do {
            try await run
            Issue.record("the hub ended without a reason")
        } catch {
            #expect((error as? IoTError)?.message == "gone")
        }
    }
}
