import Foundation

func fflushAll() { fflush(nil) }

/// The viewers' process, as the camera's side uses it. Used from one thread.
final class Child: @unchecked Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var unread: [UInt8] = []

    init(viewers: Int) throws {
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["viewers", "\(viewers)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Sends a line and returns the words of the answer.
    func ask(_ line: String) throws -> [Substring] {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
        while true {
            if let end = unread.firstIndex(of: 10) {
                let answer = String(decoding: unread[..<end], as: UTF8.self)
                unread.removeSubrange(...end)
                return answer.split(separator: " ")
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw BenchmarkError("the viewers' process ended") }
            unread.append(contentsOf: more)
        }
    }

    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

struct BenchmarkError: Error {
    let message: String
    init(_ message: String) { self.message = message }
}

/// The kernel's data about this process.
enum ProcessFacts {
    /// Proportional set size, bytes.
    static func memory() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8) else { return 0 }
        for line in text.split(separator: "\n") where line.hasPrefix("Pss:") {
            return (line.split(separator: " ").compactMap { Int($0) }.first ?? 0) * 1024
        }
        return 0
    }

    static func descriptors() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    static func threads() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
    }
}
