import Foundation
import TestSupport

/// A program that runs in the background until it is stopped or this object is released.
final class BackgroundProgram: @unchecked Sendable {
    // `process` is started once and then only signalled and waited for.
    private let process = Process()
    private let folder: TemporaryFolder

    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try folder.newFile("out")
        process.standardError = try folder.newFile("err")
        try process.start()
    }

    var processIdentifier: Int32 { process.processIdentifier }

    var output: String { (try? String(contentsOfFile: folder.path("out"), encoding: .utf8)) ?? "" }
    var errors: String { (try? String(contentsOfFile: folder.path("err"), encoding: .utf8)) ?? "" }

    func send(_ signal: Int32) {
        if process.isRunning { kill(process.processIdentifier, signal) }
    }

    /// Waits for the program's end, and returns its exit status.
    func ended() async -> Int32 { await process.ended() }

    deinit { send(SIGKILL) }
}

extension BackgroundProgram {
    /// A broker that does not belong to a hub; it accepts every client and logs connections.
    static func foreignBroker(port: Int, in folder: TemporaryFolder) async throws -> BackgroundProgram {
        let file = folder.path("foreign.conf")
        try """
        user \(NSUserName())
        listener \(port) 127.0.0.1
        allow_anonymous true
        connection_messages true
        log_dest stderr

        """.write(toFile: file, atomically: true, encoding: .utf8)
        let broker = try BackgroundProgram(["mosquitto", "-c", file])
        try await eventually("the foreign broker") { broker.errors.contains(" running") }
        return broker
    }
}
