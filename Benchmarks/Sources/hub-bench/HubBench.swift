import Foundation
import IoTCore
import IoTLink
import LinkHub
import Logging
import ThingModel

/// Measures the hub with its real broker and disk, from link sessions in this process, and prints one JSON object.
///
/// Usage: hub-bench DIRECTORY. The directory is created; it must be on the disk on which `fdatasync` is measured.
@main
struct HubBench {
    static let quiet = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }

    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[1] == "--devices" { return try await IdleDevices.hold(socket: arguments[2]) }
        guard arguments.count == 2, !arguments[1].hasPrefix("-") else {
            FileHandle.standardError.write(Data("usage: hub-bench DIRECTORY\n".utf8))
            exit(2)
        }
        var limits = BrokerLimits()
        limits.connections = 4_096
        let hub = try LinkHub(
            HubConfiguration(dataDirectory: URL(fileURLWithPath: arguments[1]).path, brokerLimits: limits),
            logger: quiet)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await hub.run() }
            try await hub.waitUntilReady()
            var report: [String: JSONValue] = [:]
            report["writes"] = try await WriteBenchmark.run(hub)
            report["pushes"] = try await withDevices(hub, ["pushed"]) {
                try await PushBenchmark.run(hub, $0[0], subscribers: 200)
            }
            report["idle"] = try await IdleDevices.measure(hub, count: 500, program: arguments[0])
            print(JSONValue.object(report).jsonText)
            group.cancelAll()
        }
    }
}

/// Runs sessions of these principals during `body`; all are online when it begins.
func withSessions<Result: Sendable>(
    _ hub: LinkHub, _ principals: [Principal], _ body: ([LinkSession]) async throws -> Result
) async throws -> Result {
    var sessions: [LinkSession] = []
    for principal in principals {
        let token = try await hub.issueToken(principal, lifetime: .seconds(86_400))
        sessions.append(
            LinkSession(
                configuration: LinkConfiguration(principal: principal, token: .value(token), endpoint: hub.endpoint),
                logger: HubBench.quiet))
    }
    return try await withThrowingTaskGroup(of: Void.self) { group in
        for session in sessions {
            group.addTask { try await session.run() }
        }
        for session in sessions {
            for await change in session.statusChanges() where change.status == .online { break }
        }
        let result = try await body(sessions)
        group.cancelAll()
        return result
    }
}

/// Runs the owner's devices with these names during `body`; the hub knows their models.
func withDevices<Result: Sendable>(
    _ hub: LinkHub, _ names: [String], _ body: ([DeviceID]) async throws -> Result
) async throws -> Result {
    var devices: [DeviceID] = []
    return try await withThrowingTaskGroup(of: Void.self) { group in
        for name in names {
            let (device, token) = try await hub.ensureDevice(name: name)
            let session = LinkSession(
                configuration: LinkConfiguration(
                    principal: .device(device), token: .value(token), endpoint: hub.endpoint),
                logger: HubBench.quiet)
            let model = DeviceModel(schema: try ThingSchema([]), link: session, logger: HubBench.quiet)
            group.addTask { try await session.run() }
            group.addTask { await model.run() }
            devices.append(device)
        }
        let owner = try await hub.ensureOwnAccount()
        try await withSessions(hub, [.user(owner)]) { sessions in
            for device in devices {
                while (try? await ThingModelClient(link: sessions[0]).read(device.rawValue)) == nil {
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
        }
        let result = try await body(devices)
        group.cancelAll()
        return result
    }
}
