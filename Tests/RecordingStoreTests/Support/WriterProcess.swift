import Foundation
import TestSupport
import Testing

@testable import RecordingStore

/// `killed-writer`: records into `directory/disk`, with its index beside it, until it is killed.
final class WriterProcess {
    /// How many fragments of each segment were synced, as far as its output was read.
    private(set) var synced: [SegmentID: Int] = [:]
    private let process = Process()
    private let pipe = Pipe()
    private var output = Data()

    /// - Parameter second: where the recording begins.
    init(_ directory: String, second: Int = 0) throws {
        // Beside the test program.
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("killed-writer")
        process.arguments = [directory, "\(second)"]
        process.standardOutput = pipe
        try process.start()
    }

    deinit {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
    }

    /// Reads what was synced, until so many more lines have come. Blocks.
    func read(lines: Int, onLine: (SegmentID, Int) throws -> Void = { _, _ in }) throws {
        for _ in 0..<lines {
            guard let (segment, fragments) = try next() else {
                Issue.record("the writer ended by itself")
                return
            }
            synced[segment] = fragments
            try onLine(segment, fragments)
        }
    }

    /// - Parameter delay: after the last line, µs: after a line it is always at the same point.
    func kill(after delay: UInt32 = 0) throws {
        usleep(delay)
        Glibc.kill(process.processIdentifier, SIGKILL)
        while let (segment, fragments) = try next() { synced[segment] = fragments }
        process.waitUntilExit()
        try #require(process.terminationReason == .uncaughtSignal, "the writer ended by itself")
    }

    private func next() throws -> (SegmentID, Int)? {
        while true {
            if let end = output.firstIndex(of: 0x0A) {
                let line = String(decoding: output[..<end], as: UTF8.self)
                output = Data(output[(end + 1)...])
                let numbers = line.split(separator: " ").compactMap { Int64($0) }
                try #require(numbers.count == 2, "\(line)")
                return (try #require(SegmentID(rawValue: numbers[0])), Int(numbers[1]))
            }
            let part = pipe.fileHandleForReading.availableData
            if part.isEmpty { return nil }
            output += part
        }
    }
}
