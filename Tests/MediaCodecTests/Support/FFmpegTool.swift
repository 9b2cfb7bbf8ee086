import Foundation
import TestSupport

/// Runs Debian's ffmpeg, the reference for these tests.
enum FFmpegTool {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// Runs the command and returns its standard output.
    @discardableResult
    static func run(_ arguments: [String], tool: String = "ffmpeg", allowMessages: Bool = false) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/\(tool)")
        let common = tool == "ffmpeg" ? ["-nostdin", "-y", "-v", "error"] : ["-v", "error"]
        process.arguments = common + arguments
        let output = Pipe()
        let messages = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).log")
        _ = FileManager.default.createFile(atPath: messages.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: messages) }
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: messages)
        try process.start()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = try String(contentsOf: messages, encoding: .utf8)
        guard process.terminationStatus == 0, allowMessages || text.isEmpty else {
            throw Failure(description: "\(tool) \(arguments): \(process.terminationStatus) \(text)")
        }
        return data
    }

    /// Decodes the whole video of `file` with ffmpeg's defaults and returns all frames' bytes.
    static func rawVideo(_ file: String, _ options: [String] = [], input: [String] = []) throws -> Data {
        // By default, `rawvideo` drops and repeats frames for a constant frame rate.
        try run(
            input + ["-threads", "1", "-i", file, "-map", "0:v:0", "-fps_mode", "passthrough"] + options
                + ["-f", "rawvideo", "-"])
    }

    /// Decodes the whole audio of `file` as interleaved Int16.
    static func rawAudio(_ file: String, input: [String] = []) throws -> Data {
        try run(input + ["-i", file, "-map", "0:a:0", "-f", "s16le", "-"])
    }

    /// One value from ffprobe, as text.
    static func probe(_ file: String, _ arguments: [String]) throws -> String {
        let data = try run(arguments + ["-of", "default=nw=1:nk=1", file], tool: "ffprobe")
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
