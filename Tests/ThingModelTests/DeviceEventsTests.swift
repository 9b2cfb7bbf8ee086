import IoTCore
import IoTLink
import Logging
import Synchronization
import Testing

@testable import ThingModel

@Suite(.timeLimit(.minutes(1))) struct DeviceEventsTests {
    private let hub = HubStandIn()

    private func events() -> DeviceEvents {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return DeviceEvents(link: hub, logger: logger, now: { 7 }, shortestPause: .zero)
    }

    @Test("A posted event is repeated with the same id until the hub has it; later events follow in order")
    func repeated() async throws {
        let events = events()
        for code in [ErrorCode.messageTimeout, .linkUnavailable, .tooManyRequests] {
            hub.failNext(EventMethod.report.name, IoTError(code))
        }
        try events.post("a/b", ["n": 1])
        try events.post("a/c", 2)
        let task = Task { await events.run() }
        for _ in 0..<5 { _ = await hub.nextMethod() }
        let requests = hub.state.withLock { $0.requests }
        #expect(requests.map { $0.params["topic"] } == ["a/b", "a/b", "a/b", "a/b", "a/c"])
        #expect(requests[0].params == ["topic": "a/b", "body": ["n": 1], "t": 7])
        let ids = hub.state.withLock { $0.ids }
        #expect(Set(ids.prefix(4)).count == 1)
        #expect(ids[4] != ids[0])
        task.cancel()
        await task.value
        #expect(events.droppedCount == 0)
    }

    @Test("Events that the hub refuses permanently, and events above the bound, are dropped and counted")
    func dropped() async throws {
        let events = events()
        hub.failNext(EventMethod.report.name, IoTError(.invalidRequest))
        try events.post("a", 1)
        try events.post("b", 1)
        let task = Task { await events.run() }
        #expect(await hub.nextMethod() == EventMethod.report.name)
        #expect(await hub.nextMethod() == EventMethod.report.name)
        task.cancel()
        await task.value
        #expect(events.droppedCount == 1)

        let full = self.events()
        for _ in 0..<DeviceEvents.capacity + 3 { try full.post("a", 1) }
        #expect(full.droppedCount == 3)
    }

    @Test("An event that the hub would refuse is refused at once")
    func wrong() throws {
        let events = events()
        try expectError(.invalidRequest) { try events.post("a b", 1) }
        try expectError(.messageTooLong) {
            try events.post("a", .string(String(repeating: "x", count: ThingEvent.maximumBodySize)))
        }
    }
}
