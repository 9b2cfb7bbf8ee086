import Foundation
import IoTCore
import IoTLink
import LinkHub
import ThingModel

/// Durable property writes by 1, 16 and 256 writers that each wait for their answer; and reads in the same way: the
/// same requests and replies through the same broker, without the disk.
enum WriteBenchmark {
    /// The number of gateways. Each is an account with its own device, so a write is pushed only to its owner;
    /// `PushBenchmark` measures pushes to many.
    static let gateways = 16

    static func run(_ hub: LinkHub) async throws -> JSONValue {
        try await withDevices(hub, (0..<gateways).map { "written-\($0)" }) { devices in
            var accounts: [Principal] = []
            let owner = try await hub.ensureOwnAccount()
            for (index, device) in devices.enumerated() {
                let account = AccessID(rawValue: "writer-\(index)")!
                try await hub.createUser(account)
                try await hub.bind(account, to: device, role: .owner, force: true)
                try? await hub.unbind(owner, from: device)
                accounts.append(.user(account))
            }
            return try await withSessions(hub, accounts) { sessions in
                let clients = sessions.map { ThingModelClient(link: $0) }
                let names = devices.map(\.rawValue)
                for writer in 0..<256 {
                    _ = try await clients[writer % gateways].addUserProperty(
                        names[writer % gateways], "w\(writer)", ["val": 0])
                }
                var rows: [JSONValue] = []
                for writers in [1, 16, 256] {
                    let count = writers == 1 ? 1_500 : 24_000
                    let writes = try await measure(writers, count) { writer, number in
                        _ = try await clients[writer % gateways].write(
                            names[writer % gateways], "ProUser.w\(writer).val", .integer(Int64(number)),
                            timeout: .seconds(30))
                    }
                    let reads = try await measure(writers, count) { writer, _ in
                        _ = try await clients[writer % gateways].read(
                            names[writer % gateways], "ProUser.w\(writer).val", timeout: .seconds(30))
                    }
                    rows.append(["writers": .integer(Int64(writers)), "writes": writes, "reads": reads])
                }
                return .array(rows)
            }
        }
    }

    /// Runs `count` operations with this many workers; each waits for one to end before the next.
    private static func measure(
        _ workers: Int, _ count: Int, _ operation: @escaping @Sendable (Int, Int) async throws -> Void
    ) async throws -> JSONValue {
        let clock = ContinuousClock()
        let start = clock.now
        let times = try await withThrowingTaskGroup(of: [Double].self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var own: [Double] = []
                    for number in 0..<(count / workers) {
                        let begin = clock.now
                        try await operation(worker, number)
                        own.append((clock.now - begin) / .milliseconds(1))
                    }
                    return own
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let took = (clock.now - start) / .seconds(1)
        let sorted = times.sorted()
        return [
            "perSecond": .number(Double(sorted.count) / took), "p50": .number(sorted[sorted.count / 2]),
            "p99": .number(sorted[sorted.count * 99 / 100]),
        ]
    }
}
