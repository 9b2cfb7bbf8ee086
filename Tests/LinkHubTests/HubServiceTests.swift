import Foundation
import GRDB
import Glibc
import IoTCore
import IoTLink
import NIOConcurrencyHelpers
import TestSupport
import Testing
import ThingModel

@testable import LinkHub

@Suite("Group commit, and what survives a restart", .timeLimit(.minutes(2)))
struct HubServiceTests {
    private func write(_ value: Int, to device: String = "front") -> JSONValue {
        ["device": .string(device), "path": "ProWritable.quality.setVal", "value": .integer(Int64(value))]
    }

    @Test("When a reply leaves, another connection to the database reads what it acknowledges")
    func committedBeforeReply() async throws {
        let directory = TemporaryDirectory()
        let isWatching = NIOLockedValueBox(false)
        let missing = NIOLockedValueBox<[String]>([])
        let path = directory.path + "/hub.sqlite"
        let reader = NIOLockedValueBox<DatabaseQueue?>(nil)
        let hub = try InProcessHub(directory: directory) { outputs in
            guard isWatching.withLockedValue({ $0 }) else { return }
            for case .message(_, let payload) in outputs {
                guard case .reply(let reply)? = try? Envelope(parsing: payload) else { continue }
                let count = try? reader.withLockedValue { $0 }?.read {
                    try Int.fetchOne($0, sql: "SELECT count(*) FROM answers WHERE request = ?", arguments: [reply.id])
                }
                if count != 1 { missing.withLockedValue { $0.append(reply.id) } }
            }
        }
        let (owner, _) = try await hub.prepare()
        reader.withLockedValue { $0 = try? DatabaseQueue(path: path) }
        isWatching.withLockedValue { $0 = true }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for value in 0..<64 {
                group.addTask {
                    let reply = try await hub.request(owner, "property.write", write(value))
                    #expect(reply.code == .success)
                }
            }
            try await group.waitForAll()
        }
        #expect(missing.withLockedValue { $0 } == [])
        #expect(hub.service.statistics.transactions < 64, "many writers share transactions")
        await hub.stop()
    }

    @Test("A repeated request gets its first answer and is applied once, also after a restart")
    func repeated() async throws {
        let directory = TemporaryDirectory()
        let hub = try InProcessHub(directory: directory)
        let (owner, devices) = try await hub.prepare()
        let first = try await hub.request(owner, "property.write", write(1), id: "same")
        #expect(try await hub.request(owner, "property.write", write(1), id: "same") == first)
        #expect(try await hub.request(owner, "property.write", write(2), id: "other").code == .success)
        #expect(try await hub.request(owner, "property.write", write(1), id: "same") == first)
        await hub.stop()

        let next = try InProcessHub(directory: directory)
        let (again, _) = try await next.prepare()
        #expect(try await next.request(again, "property.write", write(1), id: "same") == first)
        let read = try await next.request(
            again, "property.read", ["device": .string(devices[0].rawValue), "path": "ProWritable.quality.setVal"])
        #expect(read.result["value"] == 2)
        #expect(next.service.statistics.repeatedRequests == 1)
        await next.stop()
    }

    @Test("An id of a different request is refused with 25028, also after a restart, and changes nothing")
    func reused() async throws {
        let directory = TemporaryDirectory()
        var hub = try InProcessHub(directory: directory)
        var (owner, devices) = try await hub.prepare()
        let read: JSONValue = ["device": .string(devices[0].rawValue), "path": "ProWritable.quality.setVal"]
        #expect(try await hub.request(owner, "property.write", write(1), id: "same").code == .success)
        let current = try await hub.request(owner, "property.read", read, id: "read")
        for _ in 0..<2 {
            #expect(try await hub.request(owner, "property.write", write(2), id: "same").code == .requestIDReused)
            #expect(try await hub.request(owner, "property.read", read, id: "same").code == .requestIDReused)
            #expect(try await hub.request(owner, "property.write", write(1), id: "same").code == .success)
            #expect(try await hub.request(owner, "property.read", read).result == current.result)
            await hub.stop()
            hub = try InProcessHub(directory: directory)
            (owner, devices) = try await hub.prepare()
        }
        await hub.stop()
    }

    @Test("A mutation that cannot be stored fails alone, and memory returns to what is stored")
    func isolatedFailure() async throws {
        let directory = TemporaryDirectory()
        let hub = try InProcessHub(directory: directory)
        let (owner, _) = try await hub.prepare()
        #expect(try await hub.request(owner, "property.write", write(5)).code == .success)
        // SQLite itself refuses one value.
        let saboteur = try DatabaseQueue(path: directory.path + "/hub.sqlite")
        try await saboteur.write { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER refuse BEFORE UPDATE ON properties WHEN new.value LIKE '%:666%'
                    BEGIN SELECT raise(ABORT, 'sabotage'); END
                    """)
        }
        let codes = try await withThrowingTaskGroup(of: (Int, ErrorCode).self) { group in
            for value in [100, 666, 101, 102] {
                group.addTask {
                    var params = write(value)
                    params["path"] = value == 666 ? "ProWritable.quality.setVal" : "ProWritable.volume.setVal"
                    return (value, try await hub.request(owner, "property.write", params).code)
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(codes == [100: .success, 666: .storeFailed, 101: .success, 102: .success])
        let read = try await hub.request(
            owner, "property.read", ["device": "front", "path": "ProWritable.quality.setVal"])
        #expect(read.result["value"] == 5)
        await hub.stop()
    }

    @Test("Past its limit the queue answers 25024")
    func boundedQueue() async throws {
        let directory = TemporaryDirectory()
        var limits = HubLimits()
        limits.waitingMessages = 4
        limits.batchSize = 1
        let hub = try InProcessHub(directory: directory, limits: limits)
        let (owner, _) = try await hub.prepare()
        let codes = try await withThrowingTaskGroup(of: ErrorCode.self) { group in
            for value in 0..<500 {
                group.addTask { try await hub.request(owner, "property.write", write(value)).code }
            }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(Set(codes.keys) == [.success, .tooManyRequests])
        #expect(codes.values.reduce(0, +) == 500, "every one was answered")
        await hub.stop()
    }

    @Test("Random operations with restarts leave the same as a plain model of them")
    func shadowModel() async throws {
        var generator = SeededGenerator(seed: 42)
        let directory = TemporaryDirectory()
        var hub = try InProcessHub(directory: directory)
        let names = ["a", "b", "c"]
        var (owner, devices) = try await hub.prepare(devices: names)
        var shadow: [DeviceID: [String: JSONValue]] = [:]
        var versions: [DeviceID: Int64] = [:]
        for step in 0..<200 {
            let device = devices[Int.random(in: 0..<3, using: &generator)]
            let value = JSONValue.integer(Int64.random(in: -10...1_000, using: &generator))
            let name = "u\(Int.random(in: 0..<5, using: &generator))"
            let target = JSONValue.string(device.rawValue)
            var version: Int64?
            switch Int.random(in: 0..<6, using: &generator) {
            case 0, 1:
                let property = Bool.random(using: &generator) ? "quality" : "volume"
                let path = "ProWritable.\(property).setVal"
                let reply = try await hub.request(
                    owner, "property.write", ["device": target, "path": .string(path), "value": value])
                let isLegal = (value.integerValue ?? 0) >= 0
                #expect(reply.code == (isLegal ? .success : .valueInvalid))
                if isLegal { shadow[device, default: [:]][path] = value }
                version = reply.code == .success ? reply.result["version"]?.integerValue : nil
            case 2:
                let reply = try await hub.request(
                    owner, "userProperty.add", ["device": target, "name": .string(name), "value": value])
                #expect(reply.code == .success)
                shadow[device, default: [:]]["ProUser.\(name).val"] = value
                version = reply.result["version"]?.integerValue
            case 3:
                let reply = try await hub.request(
                    owner, "userProperty.delete", ["device": target, "name": .string(name)])
                let existed = shadow[device]?.removeValue(forKey: "ProUser.\(name).val") != nil
                #expect(reply.code == (existed ? .success : .pathInvalid))
                version = reply.result["version"]?.integerValue
            case 4:
                let id = "repeat-\(step)"
                let add: JSONValue = ["device": target, "name": .string(name), "value": value]
                let first = try await hub.request(owner, "userProperty.add", add, id: id)
                #expect(try await hub.request(owner, "userProperty.add", add, id: id) == first)
                shadow[device, default: [:]]["ProUser.\(name).val"] = value
                version = first.result["version"]?.integerValue
            default:
                guard step % 10 == 0 else { continue }
                await hub.stop()
                hub = try InProcessHub(directory: directory)
                (owner, devices) = try await hub.prepare(devices: names)
            }
            if let version {
                #expect(version > versions[device] ?? 0, "versions only grow")
                versions[device] = version
            }
        }
        await hub.stop()
        hub = try InProcessHub(directory: directory)
        (owner, devices) = try await hub.prepare(devices: names)
        for device in devices {
            let reply = try await hub.request(owner, "device.show", ["device": .string(device.rawValue)])
            var found: [String: JSONValue] = [:]
            for (name, object) in reply.result["model"]?["ProUser"]?.objectValue ?? [:] where name != "_buildIn" {
                found["ProUser.\(name).val"] = object["val"]
            }
            for name in ["quality", "volume"] {
                let path = "ProWritable.\(name).setVal"
                let value = reply.result["model"]?["ProWritable"]?[name]?["setVal"]
                if shadow[device]?[path] == nil { #expect(value == 0) } else { found[path] = value }
            }
            #expect(found == shadow[device] ?? [:])
        }
        await hub.stop()
    }
}
