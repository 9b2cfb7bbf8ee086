import Foundation
import IoTCore
import IoTLink
import LinkHub
import ThingModel

/// The cost of devices that are registered, online and idle, for the hub's process and the broker's.
enum IdleDevices {
    private struct Held: Codable {
        let device: String
        let token: String
    }

    static func measure(_ hub: LinkHub, count: Int, seconds: Int = 30, program: String) async throws -> JSONValue {
        guard case .unixSocket(let socket) = hub.endpoint, let broker = hub.brokerProcessIdentifier else {
            throw IoTError(.brokerFailed, "the broker is gone")
        }
        var devices: [Held] = []
        for index in 0..<count {
            let (device, token) = try await hub.ensureDevice(name: "idle-\(index)")
            devices.append(Held(device: device.rawValue, token: token))
        }
        let processes = [ProcessInfo.processInfo.processIdentifier, broker]
        let memory = processes.map(pss)
        let alone = try await cpu(of: processes, over: seconds)

        let child = Process()
        let input = Pipe()
        let output = Pipe()
        child.executableURL = URL(fileURLWithPath: program)
        child.arguments = ["--devices", socket]
        child.standardInput = input
        child.standardOutput = output
        try child.run()
        try input.fileHandleForWriting.write(contentsOf: try JSONEncoder().encode(devices) + Data("\n".utf8))
        // One byte means that all are online.
        _ = try output.fileHandleForReading.read(upToCount: 1)
        let loaded = try await cpu(of: processes, over: seconds)
        let after = processes.map(pss)
        try input.fileHandleForWriting.close()
        child.waitUntilExit()
        let each = Double(count)
        return [
            "devices": .integer(Int64(count)),
            "hubKilobytes": .number((after[0] - memory[0]) / each),
            "brokerKilobytes": .number((after[1] - memory[1]) / each),
            "cpuMicrosecondsPerSecond": .number(max(0, loaded - alone) * 1e6 / Double(seconds) / each),
        ]
    }

    /// Runs in the child process: sessions of all devices, until its input ends.
    static func hold(socket: String) async throws {
        guard let line = readLine() else { return }
        let devices = try JSONDecoder().decode([Held].self, from: Data(line.utf8))
        try await withThrowingTaskGroup(of: Void.self) { group in
            var sessions: [LinkSession] = []
            for held in devices {
                guard let device = DeviceID(rawValue: held.device) else { continue }
                let session = LinkSession(
                    configuration: LinkConfiguration(
                        principal: .device(device), token: .value(held.token), endpoint: .unixSocket(path: socket)),
                    logger: HubBench.quiet)
                let model = DeviceModel(schema: try ThingSchema([]), link: session, logger: HubBench.quiet)
                group.addTask { try await session.run() }
                group.addTask { await model.run() }
                sessions.append(session)
            }
            for session in sessions {
                for await change in session.statusChanges() where change.status == .online { break }
            }
            FileHandle.standardOutput.write(Data("!".utf8))
            await Task.detached { while readLine() != nil {} }.value
            group.cancelAll()
        }
    }

    /// The process's memory in kilobytes; shared pages count proportionally.
    private static func pss(_ process: Int32) -> Double {
        let text = (try? String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("Pss:") }
        return line.flatMap { Double($0.split(separator: " ")[1]) } ?? 0
    }

    /// Seconds of CPU that the processes use in `seconds` seconds.
    private static func cpu(of processes: [Int32], over seconds: Int) async throws -> Double {
        func used() -> Double {
            processes.reduce(0) { sum, process in
                let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
                let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
                guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
                    return sum
                }
                return sum + (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
            }
        }
        let before = used()
        try await Task.sleep(for: .seconds(seconds))
        return used() - before
    }
}
