import Foundation
import GRDB
import IoTCore
import IoTLink
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import LinkHub

@Suite("A store that fails", .timeLimit(.minutes(1)))
struct StoreFailureTests {
    private func write(_ value: Int64) -> JSONValue {
        ["device": "front", "path": "ProWritable.quality.setVal", "value": .integer(value)]
    }

    private let read: JSONValue = ["device": "front", "path": "ProWritable.quality.setVal"]

    @Test(
        "While the state cannot be read again, everything is refused with 25009, and unstored changes are never visible"
    )
    func failsClosed() async throws {
        let directory = TemporaryDirectory()
        let hub = try InProcessHub(directory: directory)
        let (owner, _) = try await hub.prepare()
        #expect(try await hub.request(owner, "property.write", write(5)).code == .success)
        let saboteur = try DatabaseQueue(path: directory.path + "/hub.sqlite")
        try await saboteur.write { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER refuse BEFORE UPDATE ON properties WHEN new.value LIKE '%:666%'
                    BEGIN SELECT raise(ABORT, 'sabotage'); END;
                    ALTER TABLE registrations RENAME TO hidden;
                    """)
        }
        #expect(try await hub.request(owner, "property.write", write(666)).code == .storeFailed)
        for _ in 0..<5 {
            #expect(try await hub.request(owner, "property.read", read).code == .storeFailed)
            #expect(try await hub.request(owner, "property.write", write(6)).code == .storeFailed)
        }
        let error = await #expect(throws: IoTError.self) {
            try await hub.service.perform { core, _ in core.state.users.count }
        }
        #expect(error?.code == .storeFailed)
        try await saboteur.write { try $0.execute(sql: "ALTER TABLE hidden RENAME TO registrations") }
        // It tries again by itself, with growing delays.
        var reply = try await hub.request(owner, "property.read", read)
        while reply.code == .storeFailed { reply = try await hub.request(owner, "property.read", read) }
        #expect(reply.code == .success)
        #expect(reply.result["value"] == 5)
        #expect(try await hub.request(owner, "property.write", write(7)).code == .success)
        await hub.stop()
    }

    @Test("The delays between attempts grow, to at most 10 s")
    func backOff() {
        var recovery = StateRecovery(at: .uptimeNanoseconds(0))
        var pauses: [Int64] = []
        for _ in 0..<9 {
            let time = recovery.next
            recovery.failed(at: time)
            pauses.append((recovery.next - time).nanoseconds / 1_000_000)
        }
        #expect(pauses == [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
    }

    /// A database with events that fill many pages.
    private func manyEvents(_ path: String) throws {
        let store = try SQLiteHubStore(path: path)
        store.close()
        let queue = try DatabaseQueue(path: path)
        try queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO devices (id, name) VALUES ('\(String(repeating: "0f", count: 16))', 'front');
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
                    INSERT INTO events (device, topic, t, body)
                        SELECT '\(String(repeating: "0f", count: 16))', 'a', i, '"' || hex(randomblob(900)) || '"' FROM n;
                    """)
        }
        try queue.close()
    }

    @Test("A damaged page that the start does not read is found later, and a sound file has no findings")
    func damagedPage() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/hub.sqlite"
        try manyEvents(path)
        let sound = try SQLiteHubStore(path: path)
        #expect(await sound.findDamage() == [])
        sound.close()
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        let size = try file.seekToEnd()
        try file.seek(toOffset: (size / 4_096 / 2) * 4_096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4_096))
        try file.close()
        let store = try SQLiteHubStore(path: path)
        #expect(try store.load().devices.count == 1, "the hub's working data was read")
        #expect(await !store.findDamage().isEmpty)
        store.close()
    }

    @Test("A file that cannot be read is refused with 25009, and the remedy says how to save it")
    func unreadableFile() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/hub.sqlite"
        try manyEvents(path)
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4_096))
        try file.close()
        let error = #expect(throws: IoTError.self) { _ = try SQLiteHubStore(path: path).load() }
        #expect(error?.code == .storeFailed)
        #expect(error?.remedy.contains(".recover") == true)
    }
}
