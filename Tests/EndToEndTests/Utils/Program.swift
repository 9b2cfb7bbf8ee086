import Foundation
import TestSupport
import Testing

/// Runs a program to its end.
struct Program {
    struct Outcome {
        let status: Int32
        let output: Data
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    let path: String
    var arguments: [String] = []
    var environment: [String: String] = [:]
    var input: Data?
    /// Used instead of `input`.
    var inputHandle: FileHandle?

    /// A program found in PATH.
    static func named(_ name: String, _ arguments: [String]) -> Program {
        Program(path: "/usr/bin/env", arguments: [name] + arguments)
    }

    /// Waits on its own thread. The output goes to files, because a pipe could fill up.
    func run() async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Result { try runAndWait() }) }
            thread.start()
        }
    }

    private func runAndWait() throws -> Outcome {
        let folder = try TemporaryFolder()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = try folder.newFile("output")
        let errors = try folder.newFile("errors")
        process.standardOutput = output
        process.standardError = errors
        if let inputHandle {
            process.standardInput = inputHandle
        } else if let input {
            let file = folder.path("input")
            try input.write(to: URL(fileURLWithPath: file))
            process.standardInput = FileHandle(forReadingAtPath: file)
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        try process.start()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus,
            output: try Data(contentsOf: URL(fileURLWithPath: folder.path("output"))),
            errors: String(decoding: try Data(contentsOf: URL(fileURLWithPath: folder.path("errors"))), as: UTF8.self))
    }
}
