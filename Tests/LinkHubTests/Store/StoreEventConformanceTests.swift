import IoTCore
import Testing
import ThingModel

@testable import LinkHub

@Suite("Events in any store of the hub", .timeLimit(.minutes(1)))
struct StoreEventConformanceTests {
    private let front = DeviceID.random()
    private let back = DeviceID.random()

    private func event(_ number: Int64, _ device: DeviceID, _ topic: String = "a", body: String? = nil) -> StoreChange {
        .addEvent(EventRecord(number: number, device: device, topic: topic, t: number * 10, body: body ?? "\(number)"))
    }

    /// Opens a store with the events 1 to `count`, alternately of the front and the back device.
    private func store(_ kind: StoreKind, _ directory: TemporaryDirectory, events count: Int64 = 10) async throws
        -> any HubStore
    {
        let store = try kind.open(directory)
        try await store.commit([
            [.putDevice(front, DeviceRecord(name: "front")), .putDevice(back, DeviceRecord(name: "back"))],
            (1...count).map { event($0, $0 % 2 == 1 ? front : back, $0 <= 5 ? "low/x" : "high") },
        ])
        return store
    }

    private func find(
        _ store: any HubStore, _ filter: EventFilter, limit: Int = 50
    ) async throws -> (numbers: [Int64], next: Int64?) {
        let rows = try await store.events(.matching(filter, limit: limit, withBodies: true))
        #expect(rows.records.allSatisfy { $0.body == "\($0.number)" && $0.t == $0.number * 10 })
        return (rows.records.map(\.number), rows.next)
    }

    @Test("They are found newest first, by device, topic, time and number", arguments: StoreKind.all)
    func filters(kind: StoreKind) async throws {
        let store = try await store(kind, TemporaryDirectory())
        let both: Set<DeviceID> = [front, back]
        #expect(try await find(store, EventFilter(devices: both)).numbers == [10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
        #expect(try await find(store, EventFilter(devices: [front])).numbers == [9, 7, 5, 3, 1])
        #expect(try await find(store, EventFilter(devices: [])).numbers == [])
        #expect(try await find(store, EventFilter(devices: both, topicPrefix: "low/")).numbers == [5, 4, 3, 2, 1])
        #expect(try await find(store, EventFilter(devices: [back], times: 40...80)).numbers == [8, 6, 4])
        #expect(try await find(store, EventFilter(devices: both, before: 3)).numbers == [2, 1])
        let bare = try await store.events(.matching(EventFilter(devices: both), limit: 1, withBodies: false))
        #expect(bare.records.map(\.body) == [""])
        store.close()
    }

    @Test("Pages of any length follow each other without a gap", arguments: StoreKind.all)
    func pages(kind: StoreKind) async throws {
        let store = try await store(kind, TemporaryDirectory())
        for limit in 1...4 {
            var found: [Int64] = []
            var filter = EventFilter(devices: [front, back], topicPrefix: "low/")
            for _ in 0..<12 {
                let page = try await find(store, filter, limit: limit)
                #expect(page.numbers.count <= limit)
                found += page.numbers
                guard let next = page.next else { break }
                filter.before = next
            }
            #expect(found == [5, 4, 3, 2, 1])
        }
        store.close()
    }

    @Test("A page fits into an envelope, and a single event always fits", arguments: StoreKind.all)
    func largePages(kind: StoreKind) async throws {
        let store = try kind.open(TemporaryDirectory())
        let body = "\"" + String(repeating: "x", count: 70_000) + "\""
        try await store.commit([
            [.putDevice(front, DeviceRecord(name: "front"))] + (1...4).map { event($0, front, body: body) },
            [event(5, front, body: "\"" + String(repeating: "x", count: 300_000) + "\"")],
        ])
        let first = try await store.events(.matching(EventFilter(devices: [front]), limit: 50, withBodies: true))
        #expect(first.records.map(\.number) == [5] && first.next == 5)
        let second = try await store.events(
            .matching(EventFilter(devices: [front], before: 5), limit: 50, withBodies: true))
        #expect(second.records.map(\.number) == [4, 3] && second.next == 3)
        store.close()
    }

    @Test("A search reads at most 20,000 events, and returns where the next continues", arguments: StoreKind.all)
    func longSearch(kind: StoreKind) async throws {
        let store = try await store(kind, TemporaryDirectory(), events: 20_003)
        var filter = EventFilter(devices: [front, back], topicPrefix: "low/")
        let page = try await find(store, filter)
        #expect(page.numbers == [5, 4] && page.next == 4)
        filter.before = 4
        #expect(try await find(store, filter) == ([3, 2, 1], nil))
        store.close()
    }

    @Test(
        "Events are found by number, the oldest by time, and the excess events of a device by bytes",
        arguments: StoreKind.all)
    func selections(kind: StoreKind) async throws {
        let store = try kind.open(TemporaryDirectory())
        try await store.commit([
            [.putDevice(front, DeviceRecord(name: "front")), .putDevice(back, DeviceRecord(name: "back"))],
            (1...10).map { event($0, $0 % 2 == 1 ? front : back, body: "\"3456789é\"") },
        ])
        func numbers(_ selection: EventSelection) async throws -> [Int64] {
            try await store.events(selection).records.map(\.number)
        }
        #expect(try await numbers(.numbers([7, 2, 99, 7])).sorted() == [2, 7])
        #expect(try await numbers(.oldest(before: 35, limit: 100)) == [1, 2, 3])
        #expect(try await numbers(.oldest(before: 35, limit: 2)) == [1, 2])
        // Each has 11 bytes, and the front device has 55.
        #expect(try await numbers(.excess(front, capacity: 55, limit: 100)) == [])
        #expect(try await numbers(.excess(front, capacity: 54, limit: 100)) == [1])
        #expect(try await numbers(.excess(front, capacity: 33, limit: 100)) == [1, 3])
        #expect(try await numbers(.excess(front, capacity: 0, limit: 2)) == [1, 3])
        #expect(try await numbers(.excess(.random(), capacity: 0, limit: 2)) == [])
        store.close()
    }

    @Test("Deletions are counted, a device's oldest events go first, and no number is reused", arguments: StoreKind.all)
    func deletion(kind: StoreKind) async throws {
        let directory = TemporaryDirectory()
        var store = try await store(kind, directory)
        try await store.commit([[.trimEvents(front, count: 2)], [.deleteEvents([10, 9, 4711])]])
        #expect(try await find(store, EventFilter(devices: [front, back])).numbers == [8, 7, 6, 5, 4, 2])
        #expect(try await store.events(.excess(front, capacity: 1, limit: 9)).records.map(\.number) == [5])
        for _ in 0..<2 {
            let counts = try await store.load().events
            #expect(counts[front] == 2 && counts[back] == 4 && counts.total == 6)
            #expect(counts.last == 10)
            store.close()
            store = try kind.open(directory)
        }
        store.close()
    }
}
