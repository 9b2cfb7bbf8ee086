import Foundation
import IoTCore
import TestSupport

/// One of the independent scripts of Fixtures, with JSON on its standard input.
final class PythonPeer {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ script: String, _ arguments: [String] = [], _ order: JSONValue) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-B", ProvisioningVectors.fixtures + "/" + script] + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        try input.fileHandleForWriting.write(contentsOf: Data((order.jsonText + "\n").utf8))
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Its next line.
    func line() async throws -> String {
        let handle = output.fileHandleForReading
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                var line = Data()
                while let byte = try? handle.read(upToCount: 1), !byte.isEmpty, byte != Data([10]) { line += byte }
                if line.isEmpty {
                    continuation.resume(throwing: Failure(description: "it ended; is python3-cryptography installed?"))
                } else {
                    continuation.resume(returning: String(decoding: line, as: UTF8.self))
                }
            }
        }
    }

    /// Ends its input, and gives what it then says.
    func result() async throws -> JSONValue {
        try input.fileHandleForWriting.close()
        return try JSONValue(parsing: try await line())
    }
}
