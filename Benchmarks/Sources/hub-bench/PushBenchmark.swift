import IoTCore
import IoTLink
import LinkHub
import ThingModel

/// One device's changes, pushed to many accounts' sessions.
enum PushBenchmark {
    static func run(_ hub: LinkHub, _ device: DeviceID, subscribers: Int, writes: Int = 300) async throws -> JSONValue {
        var principals: [Principal] = [.user(try await hub.ensureOwnAccount())]
        for index in 0..<subscribers {
            let account = AccessID(rawValue: "subscriber-\(index)")!
            try await hub.createUser(account)
            try await hub.bind(account, to: device, role: .guest, actions: BindingActions([.view]))
            principals.append(.user(account))
        }
        let path = "ProUser.pushed"
        return try await withSessions(hub, principals) { sessions in
            let owner = ThingModelClient(link: sessions[0])
            let streams = sessions.dropFirst().map { ThingModelClient(link: $0).updates() }
            let last = try await owner.addUserProperty(device.rawValue, "pushed", ["val": 0])
            let clock = ContinuousClock()
            let start = clock.now
            let delivered = try await withThrowingTaskGroup(of: Int.self) { group in
                for stream in streams {
                    group.addTask {
                        var seen = 0
                        for await update in stream {
                            guard case .property(_, let change) = update, change.path.hasPrefix(path) else { continue }
                            if change.version > last { seen += 1 }
                            if change.value["val"] == .integer(Int64(writes)) { break }
                        }
                        return seen
                    }
                }
                for number in 1...writes {
                    _ = try await owner.write(device.rawValue, "\(path).val", .integer(Int64(number)))
                }
                return try await group.reduce(0, +)
            }
            let took = (clock.now - start) / .seconds(1)
            return [
                "subscribers": .integer(Int64(subscribers)), "writes": .integer(Int64(writes)),
                "delivered": .integer(Int64(delivered)), "perSecond": .number(Double(delivered) / took),
            ]
        }
    }
}
