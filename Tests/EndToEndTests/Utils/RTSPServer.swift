import Foundation
import Testing

/// GStreamer's RTSP server with one file.
final class RTSPServer: @unchecked Sendable {
    // Started once, then only terminated.
    private let process = Process()
    /// The server ends when this does.
    private let input = Pipe()
    private let folder: TemporaryFolder
    let url: String

    init(file: String) async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        let script = Product.root.appendingPathComponent("Tests/MediaCodecTests/Support/rtsp_server.py").path
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["/usr/bin/python3", script, file, "--port", "0"]
        process.standardInput = input
        process.standardOutput = try folder.newFile("out")
        process.standardError = try folder.newFile("err")
        try process.run()
        let output = folder.path("out")
        func firstLine() -> String? {
            guard let text = try? String(contentsOfFile: output, encoding: .utf8), text.contains("\n") else {
                return nil
            }
            return text.split(separator: "\n").first.map(String.init)
        }
        try await eventually("the RTSP server") { firstLine() != nil }
        let line = try #require(firstLine())
        let port = try #require(Int(line.filter(\.isNumber)), "\(line)")
        url = "rtsp://127.0.0.1:\(port)/camera"
    }

    func stop() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    deinit { stop() }
}
