import Foundation
import TestSupport
import Testing

/// GStreamer's RTSP server with one file.
final class RTSPServer: @unchecked Sendable {
    // Started once, then only terminated.
    private let process = Process()
    /// The server ends when this is closed.
    private let input = Pipe()
    private let folder: TemporaryFolder
    let url: String

    /// - Parameter port: 0 chooses a free one.
    init(file: String, port: Int = 0, user: String? = nil, password: String? = nil) async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        let script = Product.root.appendingPathComponent("Tests/MediaCodecTests/Support/rtsp_server.py").path
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["/usr/bin/python3", script, file, "--port", "\(port)"] + (user.map { ["--user", $0] } ?? [])
            + (password.map { ["--password", $0] } ?? [])
        process.standardInput = input
        process.standardOutput = try folder.newFile("out")
        process.standardError = try folder.newFile("err")
        try process.start()
        let output = folder.path("out")
        func firstLine() -> String? {
            guard let text = try? String(contentsOfFile: output, encoding: .utf8), text.contains("\n") else {
                return nil
            }
            return text.split(separator: "\n").first.map(String.init)
        }
        try await eventually("the RTSP server") { firstLine() != nil }
        let line = try #require(firstLine())
        let bound = try #require(Int(line.filter(\.isNumber)), "\(line)")
        url = Self.url(port: bound)
    }

    static func url(port: Int) -> String {
        "rtsp://127.0.0.1:\(port)/camera"
    }

    /// A camera that accepts a connection and never answers, until the descriptor is closed.
    static func silent() throws -> (descriptor: Int32, url: String) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let port = try bound(descriptor)
        try #require(listen(descriptor, 16) == 0)
        return (descriptor, url(port: port))
    }

    /// A TCP port that is free at the moment, for a server that starts later.
    static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        return try bound(descriptor)
    }

    /// Binds to a free port of this machine.
    private static func bound(_ descriptor: Int32) throws -> Int {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
            }
        }
        try #require(isBound)
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Kills the server, like a power cut.
    func stop() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    deinit { stop() }
}
