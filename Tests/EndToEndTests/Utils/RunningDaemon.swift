import Foundation
import TestSupport
import Testing

/// A real `iotvideod` with its own data directory.
final class RunningDaemon: @unchecked Sendable {
    // `process` is started once and then only signalled and waited for.
    let folder: TemporaryFolder
    private let process = Process()
    private let output: FileHandle
    private let isWrapped: Bool

    /// Starts the daemon. Returns at its ready line, or immediately.
    ///
    /// - Parameters:
    ///   - folder: The folder of an earlier daemon, to continue with its data.
    ///   - configuration: The text of a configuration file.
    ///   - wrapper: A command that runs the daemon as its child.
    ///   - prefix: A command that becomes the daemon, like `TestNetwork.prefix(_:)`.
    init(
        cameras: [String: String] = [:], folder: TemporaryFolder? = nil, configuration: String? = nil,
        arguments: [String] = [], wrapper: [String] = [], prefix: [String] = [], waitsUntilReady: Bool = true
    ) async throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        output = try folder.newFile("daemon.out")
        isWrapped = !wrapper.isEmpty
        var arguments = arguments
        if let configuration {
            let file = folder.path("iotvideod.yaml")
            try configuration.write(toFile: file, atomically: true, encoding: .utf8)
            // URLs with passwords are accepted only in a file that others cannot read.
            chmod(file, 0o600)
            arguments += ["--config", file]
        }
        let command =
            prefix + wrapper + [
                Product.program("iotvideod"), "--data-dir", folder.path("data"), "--socket", folder.path("socket"),
            ]
            + cameras.sorted { $0.key < $1.key }.flatMap { ["--camera", "\($0.key)=\($0.value)"] } + arguments
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = try folder.newFile("daemon.err")
        try process.start()
        if waitsUntilReady { try await waitUntilReady() }
    }

    var processIdentifier: Int32 { process.processIdentifier }

    var log: String {
        (try? String(contentsOfFile: folder.path("daemon.err"), encoding: .utf8)) ?? ""
    }

    private func waitUntilReady() async throws {
        let path = folder.path("daemon.out")
        try await eventually("the daemon's ready line", within: .seconds(60)) { [process] in
            if !process.isRunning { throw DaemonEnded() }
            return (try? String(contentsOfFile: path, encoding: .utf8))?.contains("is ready") == true
        }
    }

    struct DaemonEnded: Error {}

    /// Runs `iotctl` with this daemon.
    func iotctl(_ arguments: String..., input: String? = nil) async throws -> Program.Outcome {
        try await iotctl(arguments, input: input)
    }

    func iotctl(_ arguments: [String], input: String? = nil) async throws -> Program.Outcome {
        try await Program(
            path: Product.program("iotctl"), arguments: arguments,
            environment: ["IOTCTL_SOCKET": folder.path("socket")],
            input: input.map { Data($0.utf8) }
        ).run()
    }

    /// Signals the daemon itself, also if it runs under a wrapper.
    func kill(_ signal: Int32 = SIGKILL) {
        var target = process.processIdentifier
        if isWrapped,
            let text = try? String(contentsOfFile: "/proc/\(target)/task/\(target)/children", encoding: .utf8),
            let child = text.split(separator: " ").first.flatMap({ Int32($0) })
        {
            target = child
        }
        Foundation.kill(target, signal)
    }

    /// Stops the daemon cleanly and returns its exit status.
    @discardableResult
    func stop() async -> Int32 {
        if process.isRunning { kill(SIGTERM) }
        return await ended()
    }

    func ended() async -> Int32 { await process.ended() }

    deinit {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGTERM) }
    }
}

/// Repeats the check every 20 ms, because another process sends no event to wait for.
func eventually(
    _ what: String, within limit: Duration = .seconds(20), _ isTrue: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let end = clock.now + limit
    while clock.now < end {
        if try await isTrue() { return }
        try await clock.sleep(for: .milliseconds(20))
    }
    Issue.record("\(what) did not come within \(limit)")
    throw NeverCame(what: what)
}

struct NeverCame: Error {
    let what: String
}

extension RunningDaemon {
    /// The UDP ports on which the daemon listens, from the kernel's tables.
    var udpPorts: [Int] {
        let folder = "/proc/\(processIdentifier)/fd"
        let links = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let sockets = Set(
            links.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + $0) })
        let table = (try? String(contentsOfFile: "/proc/net/udp", encoding: .utf8)) ?? ""
        return table.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, sockets.contains("socket:[\(fields[9])]") else { return nil }
            return fields[1].split(separator: ":").last.flatMap { Int($0, radix: 16) }
        }
    }
}
