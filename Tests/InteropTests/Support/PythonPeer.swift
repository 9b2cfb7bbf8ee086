import Foundation
import IoTCore
import TestSupport

/// A peer of another implementation, in its own Python process, controlled by JSON lines.
final class PythonPeer: Sendable {
    private let process = Process()
    private let input = Pipe()
    private let lines: AsyncStream<String>
    /// The `candidate` events, which `next` does not return.
    let candidates: AsyncStream<String>

    /// - Parameters:
    ///   - script: A file in `Tests/InteropTests/Peers`.
    ///   - python: By default the Python of run.sh's environment. Only the system's Python has Debian's modules.
    init(_ script: String, arguments: [String] = [], python: String? = nil) throws {
        guard let python = python ?? ProcessInfo.processInfo.environment["PYTHON"] else {
            throw IoTError(.internalFailure, "PYTHON is not set: use Tests/InteropTests/run.sh")
        }
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [folder.appendingPathComponent("Peers/\(script)").path] + arguments
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        lines = stream
        let (candidates, candidate) = AsyncStream.makeStream(of: String.self)
        self.candidates = candidates
        // Called for one piece at a time.
        nonisolated(unsafe) var rest = Data()
        output.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            guard !data.isEmpty else {
                handle.readabilityHandler = nil
                candidate.finish()
                return continuation.finish()
            }
            rest.append(data)
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
                rest = Data(rest[(end + 1)...])
                if let event = try? JSONValue(parsing: line), event["event"] == .string("candidate") {
                    candidate.yield(event["candidate"]?.stringValue ?? "")
                } else {
                    continuation.yield(line)
                }
            }
        }
        try process.start()
    }

    deinit {
        if process.isRunning { process.terminate() }
    }

    func tell(_ command: [String: JSONValue]) throws {
        let line = JSONValue.object(command).jsonText + "\n"
        try input.fileHandleForWriting.write(contentsOf: Data(line.utf8))
    }

    /// The next event with this name; earlier events are discarded. Throws if the peer ends first.
    func next(_ name: String) async throws -> JSONValue {
        for await line in lines {
            let value = try JSONValue(parsing: line)
            if value["event"]?.stringValue == name { return value }
        }
        throw IoTError(.internalFailure, "the peer ended before the event \(name)")
    }
}
